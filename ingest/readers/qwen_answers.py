"""Which answers the client wrote itself instead of running the call, told by their exact texts.

Only the text tells: the log marks a synthetic answer as an ordinary failure. A tool can print the same words (the sources
of this project hold them), so an answer that the client says it executed is never taken for a synthetic one.
"""

from __future__ import annotations

import msgspec
from msgspec import Raw, Struct

from ingest.readers.lenient_json import storable
from ingest.records import Answer

_DUPLICATE = 'Duplicate provider tool call id "'
_HANDLED = '" was already handled. The duplicate tool call was ignored and not executed again.'
_REISSUE = (
    " If you intended to run this tool again, re-issue the call with a new unique tool-call id"
    " (or explicitly different arguments)."
)
_SKIPPED = "Skipped because loop detection stopped the current turn before this tool call could run."
_SKIPPED_OTHERWISE = "Skipped because "
_BLOCKED_BY_HOOK = "Tool execution blocked by hook"
_STOPPED_BY_HOOK = "Execution stopped by hook"
_NEEDS_PERMISSION = 'Qwen Code requires permission to use "'
_DECLINED = '", but that permission was declined.'
_NOT_RECORDED = "Tool execution result was not recorded"
_CANCELLED = "[Operation Cancelled]"

_ERROR_FIRST = b'{"error"'
_ERROR_LINE = 200
"""Characters kept of an error's first line."""
_LONGEST_TEXT = 100_000
"""Bytes. A synthetic answer is a sentence or two; a longer error is a tool's and is not decoded."""


class _Failure(Struct):
    error: str


_decode_failure = msgspec.json.Decoder(_Failure).decode


class Reading(Struct, frozen=True):
    answer: Answer = "tool"
    quoted_id: str | None = None
    guard_hint: str | None = None
    error_class: str | None = None
    """The client's reason not to run the call, finer than its own error type (all are `execution_denied` or less)."""


ORDINARY = Reading()
"""The tool's own answer."""


def is_failure(response: Raw) -> bool:
    """Whether the response is an error: all that a sub-agent's log says of a call's status."""
    return bytes(memoryview(response)[: len(_ERROR_FIRST)]) == _ERROR_FIRST


def error_text(response: Raw) -> str | None:
    """What an answer that is an error says; None of any other, and of one that is too long to be a synthetic answer."""
    if not is_failure(response) or len(memoryview(response)) > _LONGEST_TEXT:
        return None
    try:
        return _decode_failure(response).error
    except msgspec.MsgspecError:  # an error object, or a text that only the tool can have written
        return None


def read_answer(error: str | None, status: str | None, execution_status: str | None) -> Reading:
    """error: as `error_text` gives it."""
    if status == "cancelled":
        return Reading("cancelled")
    if status == "success" or execution_status not in (None, "not_started") or error is None:
        return ORDINARY
    return _read_text(error)


def first_line(text: str) -> str | None:
    """The first that is not blank, cut."""
    return storable(text.lstrip().partition("\n")[0].rstrip()[:_ERROR_LINE]) or None


def _read_text(text: str) -> Reading:
    if text.startswith(_DUPLICATE):
        # The id is quoted unescaped and may hold quotes itself: cut from both ends.
        if text.endswith(_HANDLED):
            return Reading("duplicate", text[len(_DUPLICATE) : -len(_HANDLED)], "id-breaker")
        if text.endswith(_HANDLED + _REISSUE):
            return Reading("duplicate", text[len(_DUPLICATE) : -len(_HANDLED + _REISSUE)], "fingerprint")
    if text == _SKIPPED:
        return Reading("loop-skip")
    if text.startswith(_SKIPPED_OTHERWISE):
        return Reading("skipped", error_class="skipped")
    if text.startswith(_NOT_RECORDED):
        return Reading("interrupted")
    if text.startswith(_BLOCKED_BY_HOOK):
        return Reading(error_class="blocked-by-hook")
    if text.startswith(_STOPPED_BY_HOOK):
        return Reading(error_class="stopped-by-hook")
    if text.startswith(_NEEDS_PERMISSION) and text.endswith(_DECLINED):
        return Reading(error_class="permission-declined")
    if text.startswith(_CANCELLED):
        return Reading("cancelled")
    return ORDINARY
