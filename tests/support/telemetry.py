"""Events of Qwen Code told outside its log: as its telemetry file prints them, and as OTLP carries them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

START = 1_796_119_200_000_000
"""2026-12-01 10:00:00 in microseconds, when the logs of `qwen_log` begin."""


@dataclass(frozen=True)
class Told:
    name: str
    """As the client has it, with its prefix if it has one."""
    session_id: str
    second: float
    """After START."""
    attributes: Mapping[str, Any]
    version: str = "0.24.4"

    @property
    def all_attributes(self) -> dict[str, Any]:
        return {"session.id": self.session_id, "event.name": self.name, **self.attributes}

    @property
    def nanoseconds(self) -> int:
        return (START + round(self.second * 1_000_000)) * 1000


def outfile(events: Sequence[Told]) -> bytes:
    return b"".join(json.dumps(_sdk_object(event), indent=2).encode() + b"\n" for event in events)


def otlp_line(events: Sequence[Told]) -> bytes:
    """One payload, as the collector's file exporter writes it."""
    payload = {
        "resourceLogs": [{"resource": _resource(event), "scopeLogs": [{"logRecords": [_record(event)]}]} for event in events]
    }
    return json.dumps(payload, separators=(",", ":")).encode() + b"\n"


def loop_detected(session_id: str, loop_type: str, prompt_id: str, second: float) -> Told:
    return Told("loop_detected", session_id, second, {"loop_type": loop_type, "prompt_id": prompt_id})


def _sdk_object(event: Told) -> dict[str, Any]:
    return {
        "resource": {"_rawAttributes": [["service.name", "qwen-code"], ["service.version", event.version]]},
        "instrumentationScope": {"name": "qwen-code"},
        "_hrTime": list(divmod(event.nanoseconds, 1_000_000_000)),
        "_body": "told",
        "attributes": event.all_attributes,
    }


def _resource(event: Told) -> dict[str, Any]:
    return {"attributes": _tagged({"service.name": "qwen-code", "service.version": event.version})}


def _record(event: Told) -> dict[str, Any]:
    told = {"timeUnixNano": str(event.nanoseconds), "body": {"stringValue": "told"}}
    return {**told, "attributes": _tagged(event.all_attributes)}


def _tagged(attributes: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [{"key": key, "value": _value(value)} for key, value in attributes.items()]


def _value(value: object) -> dict[str, Any]:
    if value is None:
        return {}
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    return {"doubleValue": value} if isinstance(value, float) else {"stringValue": value}
