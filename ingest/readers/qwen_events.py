"""What a Qwen Code event says, whichever way it was told.

The client tells the same events in its session log (`ui_telemetry`), in its telemetry file and over OTLP, and spans beside
them. Names moved between versions (`error_type` became `error.type`, spans prefix theirs with `qwen-code.`), so all spellings
are read into one structure and from there into one Event. Texts of prompts and answers are not named here and so never kept.

Members are untyped on purpose: attributes change type between versions, and one odd value must not cost the event.
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


class Attributes(Struct, gc=False, rename=_SPELLINGS):
    session_id: Any = None
    event_name: Any = None
    event_timestamp: Any = None
    prompt_id: Any = None
    span_prompt_id: Any = None
    model: Any = None
    request_model: Any = None
    span_model: Any = None
    response_id: Any = None
    span_response_id: Any = None
    call_id: Any = None
    span_call_id: Any = None
    provider_call_id: Any = None
    function_name: Any = None
    tool_name: Any = None
    span_tool: Any = None
    status: Any = None
    status_code: Any = None
    turn_status: Any = None
    error_type: Any = None
    error_class: Any = None
    final_error_type: Any = None
    error_message: Any = None
    error_text: Any = None
    exception_text: Any = None
    error: Any = None
    duration_ms: Any = None
    turn_duration_ms: Any = None
    loop_type: Any = None
    auth_type: Any = None
    provider: Any = None
    decision: Any = None
    execution_status: Any = None
    subagent_id: Any = None
    span_subagent_id: Any = None
    subagent_name: Any = None
    span_subagent_name: Any = None
    terminate_reason: Any = None
    span_terminate_reason: Any = None
    message_type: Any = None
    finish_reason: Any = None
    attempt_number: Any = None
    total_attempts: Any = None
    command: Any = None
    request_text: Raw = Raw()


_FIELD_OF = {field.encode_name: field.name for field in fields(Attributes)}

_KEPT: Mapping[str, tuple[str, ...]] = {
    "auth_type": ("auth_type",),
    "provider": ("provider",),
    "status_code": ("status_code",),
    "decision": ("decision",),
    "execution_status": ("execution_status",),
    "provider_call_id": ("provider_call_id",),
    "subagent_id": ("subagent_id", "span_subagent_id"),
    "subagent_name": ("subagent_name", "span_subagent_name"),
    "terminate_reason": ("terminate_reason", "span_terminate_reason"),
    "message_type": ("message_type",),
    "finish_reason": ("finish_reason",),
    "attempt_number": ("attempt_number",),
    "total_attempts": ("total_attempts",),
    "command": ("command",),
}
"""Attribute of the Event -> the members it is taken from, first one first."""


def from_mapping(attributes: Mapping[str, object]) -> Attributes:
    known: dict[str, Any] = {_FIELD_OF[key]: value for key, value in attributes.items() if key in _FIELD_OF}
    request = known.pop("request_text", None)
    result = Attributes(**known)
    if isinstance(request, str):
        result.request_text = Raw(request.encode("utf-8", "backslashreplace"))
    return result


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
    session_id = text(told.session_id)
    if session_id is None and isinstance(told.prompt_id, str):
        within = _SESSION_IN_PROMPT_ID.match(told.prompt_id)
        session_id = storable(within[1]) if within else None
    return session_id or ""


def to_event(
    told: Attributes,
    *,
    channel: Literal["log", "telemetry", "span"],
    name: str,
    place: Place,
    session_id: str,
    ts: int | None,
    uuid: str | None = None,
    parent_uuid: str | None = None,
    version: str | None = None,
    cwd: str | None = None,
    forked_from: str | None = None,
    status: str | None = None,
    message: str | None = None,
    span_duration_ms: float | None = None,
) -> Event:
    """`status`, `message` and `span_duration_ms` are a span's own, used where its attributes do not say more."""
    loop_type = text(told.loop_type)
    kept: dict[str, str] = {}
    for attribute, members in _KEPT.items():
        for member in members:
            value = getattr(told, member)
            if value is not None and attribute not in kept and (as_text := text(value)) is not None:
                kept[attribute] = as_text[:_ATTRIBUTE_CHARACTERS]
    if name == "api_request" and _LOOP_NOTE.search(memoryview(told.request_text)):
        kept["loop_note"] = "true"
    return Event(
        place=place,
        session_id=session_id,
        uuid=uuid,
        parent_uuid=parent_uuid,
        ts=ts,
        version=version,
        cwd=cwd,
        forked_from=forked_from,
        channel=channel,
        name=storable(name.removeprefix(PREFIX)),
        prompt_id=text(told.prompt_id, told.span_prompt_id),
        model=text(told.model, told.request_model, told.span_model),
        response_id=text(told.response_id, told.span_response_id),
        call_id=text(told.call_id, told.span_call_id),
        tool=text(told.function_name, told.tool_name, told.span_tool),
        status=text(told.turn_status, told.status, status, told.status_code),
        error_class=text(told.error_type, told.error_class, told.final_error_type),
        message=short(text(told.error_message, told.error_text, told.error, message, told.exception_text)),
        duration_ms=number(told.duration_ms, told.turn_duration_ms, span_duration_ms),
        loop_type=loop_type.lower() if loop_type else None,
        attributes=kept,
    )
