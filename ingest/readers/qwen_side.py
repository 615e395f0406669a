"""The small files beside Qwen Code's logs. None is part of a conversation; each proves something that the log cannot.

A sub-agent's meta file tells how it ended (its last call is in no log when a guard stopped it), the daemon's ledger which
prompts were answered, the usage file which sessions ended in an orderly way, the runtime file which process wrote the log.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

import msgspec

from ingest.readers.base import FingerprintFunction, Reader, Row, Sample
from ingest.readers.lenient_json import loads
from ingest.readers.lines import LineReader
from ingest.readers.qwen_events import number, short, text
from ingest.readers.qwen_wire import microseconds, time_of
from ingest.records import Event, Place, Problem

_ATTRIBUTE_CHARACTERS = 200
_LONGEST_FILE = 16 << 20
"""Bytes. The client writes a few hundred."""


class _SideLines(LineReader[dict[str, Any]]):
    """A file of one small object a line; few lines, so they are decoded without a type."""

    client = "qwen-code"
    version = 2
    decoder: ClassVar[msgspec.json.Decoder[Any]] = msgspec.json.Decoder(dict[str, Any])

    def from_object(self, value: dict[str, Any], exact: bool) -> dict[str, Any]:
        return value

    def memory(self) -> dict[str, Any]:
        return {}


class QwenLedgerReader(_SideLines):
    format = "qwen-ledger"

    @classmethod
    def claims(cls, sample: Sample) -> bool:
        return any(_is_ledger(value) for value in sample.values)

    def is_record(self, value: dict[str, Any]) -> bool:
        return _is_ledger(value)

    def rows(self, wire: dict[str, Any], place: Place) -> Sequence[Row] | None:
        if not _is_ledger(wire):
            return None
        event = Event(
            place=place,
            session_id=self.name.removesuffix(".jsonl").removesuffix(".ledger"),
            ts=microseconds(time_of(wire.get("at"))),
            channel="side",
            name="ledger",
            prompt_id=text(wire.get("promptId")),
            status=text(wire.get("terminal"), wire.get("state")),
            error_class=text(wire.get("code")),
        )
        return (event,)


class QwenUsageReader(_SideLines):
    format = "qwen-usage"

    @classmethod
    def claims(cls, sample: Sample) -> bool:
        return any(_is_usage(value) for value in sample.values)

    def is_record(self, value: dict[str, Any]) -> bool:
        return _is_usage(value)

    def rows(self, wire: dict[str, Any], place: Place) -> Sequence[Row] | None:
        if not _is_usage(wire):
            return None
        event = Event(
            place=place,
            session_id=text(wire["sessionId"]) or "",
            ts=microseconds(time_of(wire.get("timestamp"))),
            cwd=text(wire.get("project")),
            channel="side",
            name="usage",
            duration_ms=number(wire.get("durationMs")),
        )
        return (event,)


class _WholeFile(Reader):
    """One JSON object that is the file. It is rewritten whole, so half of one is a file caught in the writing."""

    client = "qwen-code"
    version = 2

    def __init__(self, source: str, fingerprint: FingerprintFunction) -> None:
        super().__init__(source, fingerprint)
        self._data = bytearray()
        self._size = 0

    @abstractmethod
    def event(self, value: dict[str, Any], place: Place) -> Event | None:
        """What the object says; None where it is none of this format."""

    def feed(self, data: bytes) -> Iterator[Row]:
        self._size += len(data)
        if self._size <= _LONGEST_FILE:
            self._data += data
        return iter(())

    def finish(self) -> Iterator[Row]:
        if self._size > _LONGEST_FILE:
            yield Problem("too-long", f"{self._size} bytes, read are {_LONGEST_FILE} at most", 0, 1)
            return
        data = bytes(self._data).removeprefix(b"\xef\xbb\xbf")
        if not data.strip():
            return
        try:
            value = loads(data)
        except ValueError as error:
            yield Problem("torn-tail", f"{len(data)} bytes: {error}", 0, 1)
            return
        event = self.event(value, Place(self.source, 0, len(self._data), 1)) if isinstance(value, dict) else None
        yield event or Problem("foreign-record", f"{len(data)} bytes: JSON, but no {self.format} record", 0, 1)


class QwenAgentMetaReader(_WholeFile):
    format = "qwen-agent-meta"

    @classmethod
    def claims(cls, sample: Sample) -> bool:
        return any(_is_agent_meta(value) for value in sample.values[:1])

    def event(self, value: dict[str, Any], place: Place) -> Event | None:
        if not _is_agent_meta(value):
            return None
        parent = text(value["parentSessionId"]) or ""
        agent = self.name.removesuffix(".json").removesuffix(".meta")
        return Event(
            place=place,
            session_id=f"{parent}/{agent}",
            ts=microseconds(time_of(value.get("lastUpdatedAt")) or time_of(value.get("createdAt"))),
            channel="side",
            name="agent-meta",
            model=text(value.get("model")),
            status=text(value.get("status")),
            message=short(text(value.get("lastError"))),
            attributes=_texts(value, "agentId", "agentType", "toolUseId", "parentSessionId", "parentAgentId"),
        )


class QwenRuntimeReader(_WholeFile):
    format = "qwen-runtime"

    @classmethod
    def claims(cls, sample: Sample) -> bool:
        return any(_is_runtime(value) for value in sample.values[:1])

    def event(self, value: dict[str, Any], place: Place) -> Event | None:
        if not _is_runtime(value):
            return None
        started = number(value.get("started_at"))
        return Event(
            place=place,
            session_id=text(value["session_id"]) or "",
            ts=round(started * 1_000_000) if started is not None and abs(started) < 1e11 else None,
            version=text(value.get("qwen_version")),
            cwd=text(value.get("work_dir")),
            channel="side",
            name="runtime",
            attributes=_texts(value, "pid", "hostname"),
        )


def _is_ledger(value: dict[str, Any]) -> bool:
    return "v" in value and "promptId" in value and ("state" in value or "terminal" in value)


def _is_usage(value: dict[str, Any]) -> bool:
    return "sessionId" in value and "durationMs" in value and "totalLatencyMs" in value and "tools" in value


def _is_agent_meta(value: dict[str, Any]) -> bool:
    return "agentId" in value and "parentSessionId" in value


def _is_runtime(value: dict[str, Any]) -> bool:
    return "session_id" in value and "pid" in value and "qwen_version" in value


def _texts(value: dict[str, Any], *names: str) -> dict[str, str]:
    return {name: told[:_ATTRIBUTE_CHARACTERS] for name in names if (told := text(value.get(name))) is not None}
