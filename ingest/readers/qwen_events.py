"""What a Qwen Code event says, whichever way it was told.

The client tells the same events in its session log (`ui_telemetry`), in its telemetry file and over OTLP, and spans beside
them. Names moved between versions (`error_type` became `error.type`, spans prefix theirs with `qwen-code.`), so all spellings
are read into one structure and from there into one Event. Texts of prompts and answers are not named here and so never kept.

Half the lines of a session log are events, so the structure is strictly typed and read as it stands; where a version or a
damaged line tells a member in another type, `from_mapping` brings it into shape.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal

from msgspec import Raw, Struct
from msgspec.structs import fields

from ingest.readers.lenient_json import storable
from ingest.records import Event, Place

PREFIX = "qwen-code."
_MESSAGE_CHARACTERS = 500
_ATTRIBUTE_CHARACTERS = 200
_SESSION_IN_PROMPT_ID = re.compile(r"(.+?)########\d")

_LOOP_NOTE = re.compile(
    rb'text\\?": ?\\?"System: this turn was terminated because the model exceeded tool-call safety limits\. '
    rb'Try a different approach on the next turn\.\\?"'
)
"""The client's note after a daemon's loop stop, as a text part of its own: a person quoting it has other text around it."""

_SPELLINGS = {
    "session_id": "session.id",
    "event_name": "event.name",
    "event_timestamp": "event.timestamp",
    "span_prompt_id": "qwen-code.prompt_id",
    "request_model": "gen_ai.request.model",
    "span_model": "qwen-code.model",
    "span_response_id": "gen_ai.response.id",
    "span_call_id": "tool.call_id",
    "provider_call_id": "gen_ai.tool.call.id",
    "span_tool": "gen_ai.tool.name",
    "turn_status": "qwen-code.turn_status",
    "error_class": "error.type",
    "error_text": "error.message",
    "exception_text": "exception.message",
    "turn_duration_ms": "interaction.duration_ms",
    "provider": "gen_ai.provider.name",
    "span_subagent_id": "qwen-code.subagent.id",
    "span_subagent_name": "qwen-code.subagent.name",
    "span_terminate_reason": "qwen-code.subagent.terminate_reason",
    "message_type": "qwen-code.message_type",
}


Frame = tuple[Place, str, str | None, str | None, int | None, str | None, str | None, str | None]
"""What every record has, as its first members: place, session, uuid, parent, time, version, folder, origin of a fork."""


class Attributes(Struct, gc=False, rename=_SPELLINGS):
    session_id: str | None = None
    event_name: str | None = None
    event_timestamp: str | None = None
    prompt_id: str | None = None
    span_prompt_id: str | None = None
    model: str | None = None
    request_model: str | None = None
    span_model: str | None = None
    response_id: str | None = None
    span_response_id: str | None = None
    call_id: str | None = None
    span_call_id: str | None = None
    provider_call_id: str | None = None
    function_name: str | None = None
    tool_name: str | None = None
    span_tool: str | None = None
    status: str | None = None
    turn_status: str | None = None
    error_type: str | None = None
    error_class: str | None = None
    final_error_type: str | None = None
    error_message: str | None = None
    error_text: str | None = None
    exception_text: str | None = None
    error: str | None = None
    loop_type: str | None = None
    auth_type: str | None = None
    provider: str | None = None
    decision: str | None = None
    execution_status: str | None = None
    subagent_id: str | None = None
    span_subagent_id: str | None = None
    subagent_name: str | None = None
    span_subagent_name: str | None = None
    terminate_reason: str | None = None
    span_terminate_reason: str | None = None
    message_type: str | None = None
    finish_reason: str | None = None
    command: str | None = None
    status_code: int | str | None = None
    attempt_number: int | str | None = None
    total_attempts: int | str | None = None
    duration_ms: float | None = None
    turn_duration_ms: float | None = None
    request_text: Raw = Raw()


_FIELD_OF = {field.encode_name: field.name for field in fields(Attributes)}
_NUMBERS = ("duration_ms", "turn_duration_ms")

_NOT_IN_LOGS = {
    "span_subagent_name": "subagent_name",
    "span_subagent_id": "subagent_id",
    "terminate_reason": "terminate_reason",
    "span_terminate_reason": "terminate_reason",
    "message_type": "message_type",
    "provider": "provider",
    "provider_call_id": "provider_call_id",
    "finish_reason": "finish_reason",
    "attempt_number": "attempt_number",
    "total_attempts": "total_attempts",
    "command": "command",
}
"""Member -> attribute, for those that only telemetry and spans tell."""


def from_mapping(attributes: Mapping[str, object]) -> Attributes:
    """From members of any type: numbers where a text is meant become text, objects and lists are left out."""
    known: dict[str, Any] = {}
    for key, value in attributes.items():
        name = _FIELD_OF.get(key)
        if name in _NUMBERS:
            known[name] = number(value)
        elif name == "request_text":
            known[name] = Raw(value.encode("utf-8", "backslashreplace")) if isinstance(value, str) else Raw()
        elif name is not None:
            known[name] = text(value)
    return Attributes(**known)


def text(*candidates: object) -> str | None:
    """The first that is a text or a number, as text."""
    for value in candidates:
        if isinstance(value, str):
            return storable(value)
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, int | float):
            return str(value)
    return None


def number(*candidates: object) -> float | None:
    for value in candidates:
        if isinstance(value, int | float) and not isinstance(value, bool):
            return float(value) if abs(value) < 1e300 else None
    return None


def short(value: str | None, limit: int = _MESSAGE_CHARACTERS) -> str | None:
    return value if value is None else value[:limit]


def session_of(told: Attributes) -> str:
    """The session id; from the prompt id where it is not told; "" where neither says (the daemon's own events)."""
    if told.session_id is not None:
        return told.session_id
    within = _SESSION_IN_PROMPT_ID.match(told.prompt_id or "")
    return within[1] if within else ""


def frame_outside_logs(told: Attributes, place: Place, ts: int | None, version: str | None) -> Frame:
    return place, session_of(told), None, None, ts, version, None, None


def to_event(
    told: Attributes,
    frame: Frame,
    channel: Literal["log", "telemetry", "span"],
    name: str,
    *,
    status: str | None = None,
    message: str | None = None,
    span_duration_ms: float | None = None,
) -> Event:
    """`status`, `message` and `span_duration_ms` are a span's own, used where its attributes do not say more."""
    code = told.status_code
    code = str(code) if code is not None else None
    message = told.error_message or told.error_text or told.error or message or told.exception_text
    duration = told.duration_ms if told.duration_ms is not None else told.turn_duration_ms
    return Event(
        *frame,
        channel,
        name.removeprefix(PREFIX),
        told.prompt_id or told.span_prompt_id,
        told.model or told.request_model or told.span_model,
        told.response_id or told.span_response_id,
        told.call_id or told.span_call_id,
        told.function_name or told.tool_name or told.span_tool,
        told.turn_status or told.status or status or code,
        told.error_type or told.error_class or told.final_error_type,
        message[:_MESSAGE_CHARACTERS] if message else None,
        duration if duration is not None else span_duration_ms,
        told.loop_type.lower() if told.loop_type else None,
        _kept(told, channel, code),
    )


def _kept(told: Attributes, channel: str, code: str | None) -> dict[str, str]:
    """Short texts only: a log's attributes are hostile and could be of any length."""
    kept: dict[str, str] = {}
    if told.auth_type is not None:
        kept["auth_type"] = told.auth_type[:_ATTRIBUTE_CHARACTERS]
    if code is not None:
        kept["status_code"] = code
    if told.decision is not None:
        kept["decision"] = told.decision[:_ATTRIBUTE_CHARACTERS]
    if told.execution_status is not None:
        kept["execution_status"] = told.execution_status[:_ATTRIBUTE_CHARACTERS]
    if told.subagent_name is not None:
        kept["subagent_name"] = told.subagent_name[:_ATTRIBUTE_CHARACTERS]
    if told.subagent_id is not None:
        kept["subagent_id"] = told.subagent_id[:_ATTRIBUTE_CHARACTERS]
    if channel != "log":
        for member, attribute in _NOT_IN_LOGS.items():
            value = getattr(told, member)
            if value is not None:
                kept[attribute] = str(value)[:_ATTRIBUTE_CHARACTERS]
        if len(memoryview(told.request_text)):
            kept["loop_note"] = "true" if _LOOP_NOTE.search(memoryview(told.request_text)) else "false"
    return kept
