"""A line of a Qwen Code session log, as typed as the decoder needs it: what is not named here is skipped unread.

Results, texts and the payload of bookkeeping records stay raw bytes; most are only measured or digested. Two ways lead here:
the typed decoder, and `from_object` for lines that it refuses, where any member may be missing or of another type.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
from msgspec import UNSET, Raw, Struct
from msgspec.structs import fields

from ingest.readers.lenient_json import dumps, storable
from ingest.readers.qwen_events import Attributes, from_mapping


class WireCall(Struct, gc=False):
    id: str | None = None
    name: str = ""
    args: Any = UNSET
    """UNSET: not recorded. CUT: recorded, but damaged."""


class WireAnswer(Struct, gc=False):
    id: str | None = None
    name: str | None = None
    response: Raw = Raw()


class WirePart(Struct, gc=False, rename="camel"):
    text: Raw = Raw()
    thought: Any = None
    function_call: WireCall | None = None
    function_response: WireAnswer | None = None


class WireMessage(Struct, gc=False):
    parts: tuple[WirePart, ...] | None = None


class WireUsage(Struct, gc=False, rename="camel"):
    prompt_token_count: int | None = None
    candidates_token_count: int | None = None
    cached_content_token_count: int | None = None


class WireOutcome(Struct, gc=False, rename="camel"):
    call_id: str | None = None
    status: str | None = None
    error_type: str | None = None
    execution_status: str | None = None
    duration_ms: float | None = None


class WirePayload(Struct, gc=False, rename="camel"):
    """Of a bookkeeping record. What is a few bytes, in records that are few, is left to whoever reads it."""

    ui_event: Attributes | None = None
    compressed_history: tuple[WireMessage, ...] | None = None
    prompt_id: Any = None
    state: Any = None
    error: Any = None
    started_at: Any = None
    ended_at: Any = None
    stop_reason: Any = None
    snapshots: Any = None
    background_task: Any = None
    truncated_count: Any = None
    phase: Any = None


class WireOrigin(Struct, gc=False, rename="camel"):
    session_id: str | None = None


class WireRecord(Struct, gc=False, rename="camel"):
    type: str = ""
    uuid: str | None = None
    parent_uuid: str | None = None
    session_id: str | None = None
    timestamp: datetime | None = None
    subtype: str | None = None
    cwd: str | None = None
    version: str | None = None
    model: str | None = None
    message: WireMessage | None = None
    usage_metadata: WireUsage | None = None
    tool_call_result: WireOutcome | None = None
    system_payload: WirePayload | None = None
    is_sidechain: bool | None = None
    agent_id: str | None = None
    agent_run_id: str | None = None
    agent_round: int | None = None
    forked_from: WireOrigin | None = None
    daemon_prompt_id: str | None = None


CUT: Any = object()
"""Arguments of a call on a line with damaged bytes: what stands there is not what the client hashed."""

_LEFT_AS_THEY_ARE = [field.encode_name for field in fields(WirePayload) if field.type is Any]

_DECODE_TIME = msgspec.json.Decoder(datetime).decode
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


_NO_SUCH_RECORD = "?"


def _parent(value: object) -> str | None:
    """What is no id names no record. It must not read as null, which begins the conversation anew and drops all before."""
    return _text(value) if value is None or isinstance(value, str) else _NO_SUCH_RECORD


_FIRST_YEAR, _LAST_YEAR = 2, 9998
"""Beyond these no zone can be applied, here or by whoever reads the store."""


def microseconds(moment: datetime | None) -> int | None:
    """A time without a zone is UTC, as the client writes no other."""
    if moment is None or not _FIRST_YEAR <= moment.year <= _LAST_YEAR:
        return None
    try:
        return round((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1_000_000)
    except (OverflowError, ValueError):
        return None


def time_of(value: object) -> datetime | None:
    """A time in any spelling that was seen: ISO text, and a count since the epoch in seconds, milliseconds, microseconds or
    nanoseconds (told apart by its size), as a number, as digits, or as [seconds, nanoseconds]. 0 stands for unknown."""
    try:
        if isinstance(value, str):
            if not value.lstrip("-").replace(".", "", 1).isdecimal():
                return _time_of_text(value)
            value = float(value) if "." in value else int(value)
        if isinstance(value, list):
            seconds, nanoseconds = value
            return _EPOCH + timedelta(seconds=seconds, microseconds=nanoseconds // 1000)
        if isinstance(value, int | float) and not isinstance(value, bool) and value:
            return _EPOCH + timedelta(microseconds=round(value * _unit(abs(value))))
    except (ValueError, TypeError, OverflowError):
        pass
    return None


def _time_of_text(text: str) -> datetime | None:
    if "T" not in text and " " not in text:
        return None  # a date alone would be taken for midnight
    try:
        return _DECODE_TIME(b'"' + text.encode() + b'"')
    except ValueError:
        return datetime.fromisoformat(text)


def _unit(size: float) -> float:
    """Microseconds in the unit in which a time of these years has this size: seconds stay below 1e11 until the year 5138."""
    if size < 1e11:
        return 1e6
    if size < 1e14:
        return 1e3
    return 1.0 if size < 1e17 else 1e-3


def from_object(value: dict[str, Any], exact: bool) -> WireRecord:
    """The record with every member of an unexpected type left out; a plain string in place of parts is one text part."""
    usage = _object(value.get("usageMetadata"))
    outcome = _object(value.get("toolCallResult"))
    duration = outcome.get("durationMs")
    origin = _object(value.get("forkedFrom"))
    sidechain = value.get("isSidechain")
    return WireRecord(
        type=_text(value.get("type")) or "",
        uuid=_text(value.get("uuid")),
        parent_uuid=_parent(value.get("parentUuid")),
        session_id=_text(value.get("sessionId")),
        timestamp=time_of(value.get("timestamp")),
        subtype=_text(value.get("subtype")),
        cwd=_text(value.get("cwd")),
        version=_text(value.get("version")),
        model=_text(value.get("model")),
        message=_message(value.get("message"), exact),
        usage_metadata=WireUsage(
            _count(usage.get("promptTokenCount")),
            _count(usage.get("candidatesTokenCount")),
            _count(usage.get("cachedContentTokenCount")),
        ),
        tool_call_result=WireOutcome(
            _text(outcome.get("callId")),
            _text(outcome.get("status")),
            _text(outcome.get("errorType")),
            _text(outcome.get("executionStatus")),
            float(duration) if isinstance(duration, int | float) and abs(duration) < 1e300 else None,
        ),
        system_payload=_payload(_object(value.get("systemPayload")), exact),
        is_sidechain=sidechain if isinstance(sidechain, bool) else None,
        agent_id=_text(value.get("agentId")),
        agent_run_id=_text(value.get("agentRunId")),
        agent_round=_count(value.get("agentRound")),
        forked_from=WireOrigin(_text(origin.get("sessionId"))) if origin else None,
        daemon_prompt_id=_text(value.get("daemonPromptId")),
    )


def _payload(payload: dict[str, Any], exact: bool) -> WirePayload:
    told, history = payload.get("uiEvent"), payload.get("compressedHistory")
    return WirePayload(
        from_mapping(told) if isinstance(told, dict) else None,
        tuple(_message(content, exact) or WireMessage() for content in history) if isinstance(history, list) else None,
        *(payload.get(member) for member in _LEFT_AS_THEY_ARE),
    )


def _parts(content: object, exact: bool) -> tuple[WirePart, ...] | None:
    if isinstance(content, str):
        return (WirePart(text=_raw(content)),)
    if not isinstance(content, list):
        return None
    return tuple(_part(part, exact) for part in content)


def _message(value: object, exact: bool) -> WireMessage | None:
    if isinstance(value, str):
        return WireMessage(_parts(value, exact))
    if not isinstance(value, dict):
        return None
    parts = _parts(value.get("parts"), exact)
    return WireMessage(_parts(value.get("content"), exact) if parts is None else parts)


def _part(value: object, exact: bool) -> WirePart:
    if isinstance(value, str):
        return WirePart(text=_raw(value))
    part = _object(value)
    call, answer = part.get("functionCall"), part.get("functionResponse")
    return WirePart(
        text=_raw(part.get("text")),
        thought=part.get("thought"),
        function_call=WireCall(_text(call.get("id")), _text(call.get("name")) or "", _args(call, exact))
        if isinstance(call, dict)
        else None,
        function_response=WireAnswer(_text(answer.get("id")), _text(answer.get("name")), _raw(answer.get("response")))
        if isinstance(answer, dict)
        else None,
    )


def _args(call: dict[str, Any], exact: bool) -> Any:
    return call.get("args", UNSET) if exact else CUT


def _object(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(value: object) -> str | None:
    return storable(value) if isinstance(value, str) else None


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 1 << 62 else None


def _raw(value: object) -> Raw:
    return Raw() if value is None else Raw(dumps(value))
