"""OTLP/HTTP payloads in JSON, one or many in a file: what a collector or a receiver stored of Qwen Code's telemetry.

The same events as in the telemetry file, in the standard's spelling: attributes are a list of key and tagged value, 64-bit
integers are texts, an undefined attribute is an empty object.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ingest.readers.base import Row, Sample
from ingest.readers.lenient_json import loads
from ingest.readers.objects import ObjectReader
from ingest.readers.qwen_events import PREFIX, frame_outside_logs, from_mapping, text, to_event
from ingest.readers.qwen_telemetry import carries_something, client_version
from ingest.readers.qwen_wire import microseconds, time_of
from ingest.records import Event, Place

_SIGNALS = ("resourceLogs", "resourceSpans", "resourceMetrics")
_ERROR = (2, "STATUS_CODE_ERROR")
_LATEST = 1 << 62


class OtlpJsonReader(ObjectReader):
    format = "otlp-json"
    client = "qwen-code"
    version = 2

    @classmethod
    def claims(cls, sample: Sample) -> bool:
        """Every client can send OTLP; the service name tells ours, and other clients' events mean nothing to us yet."""
        return b'"qwen-code' in sample.head and any(key in value for value in sample.values for key in _SIGNALS)

    def rows(self, data: bytes, place: Place) -> Sequence[Row] | None:
        try:
            payload = loads(data)
        except ValueError:
            return None
        if not isinstance(payload, dict) or not any(key in payload for key in _SIGNALS):
            return None
        return [*_logs(payload, place), *_spans(payload, place)]


def _logs(payload: dict[str, Any], place: Place) -> Iterator[Event]:
    for version, record in _records(payload, "resourceLogs", "scopeLogs", "logRecords"):
        told = from_mapping(_attributes(record.get("attributes")))
        name = told.event_name
        if name is None:
            continue
        ts = _moment(record.get("timeUnixNano"), record.get("observedTimeUnixNano"))
        event = to_event(
            told,
            frame_outside_logs(told, place, microseconds(time_of(told.event_timestamp)) if ts is None else ts, version),
            "telemetry",
            name,
        )
        if carries_something(event):
            yield event


def _spans(payload: dict[str, Any], place: Place) -> Iterator[Event]:
    for version, span in _records(payload, "resourceSpans", "scopeSpans", "spans"):
        name = text(span.get("name")) or ""
        if not name.startswith(PREFIX):
            continue
        told = from_mapping(_attributes(span.get("attributes")))
        status = span.get("status")
        status = status if isinstance(status, dict) else {}
        started, ended = _moment(span.get("startTimeUnixNano")), _moment(span.get("endTimeUnixNano"))
        yield to_event(
            told,
            frame_outside_logs(told, place, started, version),
            "span",
            name,
            status="error" if status.get("code") in _ERROR else "ok",
            message=text(status.get("message")),
            span_duration_ms=(ended - started) / 1000 if started is not None and ended is not None else None,
        )


def _records(payload: dict[str, Any], *levels: str) -> Iterator[tuple[str | None, dict[str, Any]]]:
    """Each record of a signal with the client version that its resource tells."""
    resources, scopes, records = levels
    for resource in _objects(payload.get(resources)):
        inner = resource.get("resource")
        told = _attributes(inner.get("attributes") if isinstance(inner, dict) else None)
        version = client_version(told.get("service.version"))
        for scope in _objects(resource.get(scopes)):
            for record in _objects(scope.get(records)):
                yield version, record


def _objects(value: object) -> Iterator[dict[str, Any]]:
    yield from (item for item in (value if isinstance(value, list) else ()) if isinstance(item, dict))


def _attributes(value: object) -> dict[str, object]:
    return {item["key"]: _plain(item.get("value")) for item in _objects(value) if isinstance(item.get("key"), str)}


def _plain(value: object) -> object:
    if not isinstance(value, dict):
        return None
    for kind, plain in value.items():
        if kind == "intValue":
            return _integer(plain)
        if kind in ("stringValue", "boolValue", "doubleValue"):
            return plain
    return None


def _integer(value: object) -> int | None:
    try:
        number = int(value) if isinstance(value, str | int) else None
    except ValueError:
        return None
    return number if number is not None and abs(number) < _LATEST else None


def _moment(*candidates: object) -> int | None:
    """Nanoseconds since the epoch in microseconds; 0 stands for unknown."""
    for candidate in candidates:
        if nanoseconds := _integer(candidate):
            return nanoseconds // 1000
    return None
