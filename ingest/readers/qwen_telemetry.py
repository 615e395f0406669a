"""Qwen Code's telemetry file (`telemetry.outfile`): the OpenTelemetry SDK's own objects, printed one after another.

Not the OTLP format, and not the same from version to version (`hrTime` became `_hrTime`). Logs, spans and metrics are mixed,
and several processes append. Metrics are left out: they repeat the events as sums. Spans of the HTTP library are left out too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType, field

from ingest.readers.base import Row, Sample
from ingest.readers.lenient_json import loads
from ingest.readers.objects import ObjectReader
from ingest.readers.qwen_events import PREFIX, Attributes, frame_outside_logs, from_mapping, text, to_event
from ingest.readers.qwen_wire import microseconds, time_of
from ingest.records import Event, Place

_ERROR = 2
"""Span status code of a failure; 0 (unset) and 1 (ok) say the same here."""


class _Resource(Struct, gc=False):
    pairs: list[Any] = field(name="_rawAttributes", default_factory=list)


class _Status(Struct, gc=False):
    code: Any = None
    message: Any = None


class _SdkObject(Struct, gc=False):
    attributes: Attributes = field(default_factory=Attributes)
    resource: _Resource = field(default_factory=_Resource)
    name: Any = None
    status: _Status = field(default_factory=_Status)
    started: Any = field(name="startTime", default=None)
    ended: Any = field(name="endTime", default=None)
    time: Any = field(name="_hrTime", default=None)
    old_time: Any = field(name="hrTime", default=None)
    body: Raw | UnsetType = field(name="_body", default=UNSET)
    old_body: Raw | UnsetType = field(name="body", default=UNSET)
    metrics: Raw | UnsetType = field(name="scopeMetrics", default=UNSET)


_decode = msgspec.json.Decoder(_SdkObject).decode


class QwenTelemetryReader(ObjectReader):
    format = "qwen-telemetry"
    client = "qwen-code"
    version = 2

    @classmethod
    def claims(cls, sample: Sample) -> bool:
        """Any client on this SDK prints such objects; the service name, or the prefix of its own names, tells ours."""
        return b'"qwen-code' in sample.head and any(_is_sdk_object(value) for value in sample.values)

    def rows(self, data: bytes, place: Place) -> Sequence[Row] | None:
        try:
            told = _decode(data)
        except (msgspec.MsgspecError, UnicodeError, RecursionError):
            loose = _loosely(data)
            if loose is None:
                return None
            told = loose
        if told.metrics is not UNSET:
            return ()
        if told.body is not UNSET or told.old_body is not UNSET:
            return _log(told, place)
        if told.started is not None:
            return _span(told, place)
        return None


def _log(told: _SdkObject, place: Place) -> Sequence[Event]:
    attributes = told.attributes
    name = attributes.event_name
    if name is None:
        return ()
    ts = _moment(told.time)
    if ts is None:
        ts = _moment(told.old_time)
    if ts is None:
        ts = microseconds(time_of(attributes.event_timestamp))
    event = to_event(
        attributes,
        frame_outside_logs(attributes, place, ts, _version(told.resource.pairs)),
        "telemetry",
        name,
    )
    return (event,) if carries_something(event) else ()


def _span(told: _SdkObject, place: Place) -> Sequence[Event]:
    name = text(told.name) or ""
    if not name.startswith(PREFIX):
        return ()
    started, ended = _moment(told.started), _moment(told.ended)
    event = to_event(
        told.attributes,
        frame_outside_logs(told.attributes, place, started, _version(told.resource.pairs)),
        "span",
        name,
        status="error" if told.status.code == _ERROR else "ok",
        message=text(told.status.message),
        span_duration_ms=(ended - started) / 1000 if started is not None and ended is not None else None,
    )
    return (event,)


def carries_something(event: Event) -> bool:
    """An event of no session that names no prompt, response, call or error joins nothing and is not kept."""
    return bool(event.session_id or event.prompt_id or event.response_id or event.call_id or event.message or event.error_class)


def _moment(value: object) -> int | None:
    """Microseconds from [seconds, nanoseconds], as the SDK has it, or from any other spelling."""
    if isinstance(value, list) and len(value) == 2 and all(isinstance(part, int) for part in value):
        seconds, nanoseconds = value
        return int(seconds) * 1_000_000 + int(nanoseconds) // 1000 if abs(seconds) < 1 << 40 else None
    return microseconds(time_of(value))


def _version(pairs: list[Any]) -> str | None:
    for pair in pairs:
        if isinstance(pair, list) and len(pair) == 2 and pair[0] == "service.version":
            return client_version(pair[1])
    return None


def client_version(value: object) -> str | None:
    """The client's version; the oldest versions told Node's (`v20.1.0`) in its place."""
    version = text(value)
    return version if version and version[0].isdigit() else None


def _loosely(data: bytes) -> _SdkObject | None:
    try:
        value = loads(data)
    except ValueError:
        return None
    if not isinstance(value, dict):
        return None
    attributes, resource, status = (value.get(key) for key in ("attributes", "resource", "status"))
    pairs = resource.get("_rawAttributes") if isinstance(resource, dict) else None
    status = status if isinstance(status, dict) else {}
    return _SdkObject(
        attributes=from_mapping(attributes if isinstance(attributes, dict) else {}),
        resource=_Resource(pairs if isinstance(pairs, list) else []),
        name=value.get("name"),
        status=_Status(status.get("code"), status.get("message")),
        started=value.get("startTime"),
        ended=value.get("endTime"),
        time=value.get("_hrTime"),
        old_time=value.get("hrTime"),
        body=Raw() if "_body" in value else UNSET,
        old_body=Raw() if "body" in value else UNSET,
        metrics=Raw() if "scopeMetrics" in value else UNSET,
    )


def _is_sdk_object(value: dict[str, Any]) -> bool:
    if "instrumentationScope" in value or "scopeMetrics" in value:
        return True
    # An object that the sample cuts short may not have come to its scope yet.
    return "_spanContext" in value or "_rawAttributes" in str(value.get("resource"))
