"""Qwen Code's session logs: `chats/<session>.jsonl` and the sub-agents' `subagents/<session>/agent-<type>-<call>.jsonl`.

A sub-agent keeps a guard of its own, so its log is a session of its own, named after the parent and the file: agent ids repeat
under different parents. Every sound record becomes a record here, the bookkeeping ones too, because each can be another's
parent: a gap in the chain would cut off everything before it.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, ClassVar, Literal

import msgspec
from msgspec import UNSET

from ingest.readers.base import Earlier, FingerprintFunction, Row, Sample
from ingest.readers.lines import LineReader
from ingest.readers.qwen_answers import ORDINARY, error_text, first_line, is_failure, read_answer
from ingest.readers.qwen_bookkeeping import (
    COMPRESSION,
    UI_TELEMETRY,
    bookkeeping_event,
    compaction,
    telemetry_event,
)
from ingest.readers.qwen_events import Frame
from ingest.readers.qwen_wire import (
    CUT,
    WireAnswer,
    WireCall,
    WireMessage,
    WireOutcome,
    WirePart,
    WireRecord,
    WireUsage,
    from_object,
    microseconds,
    time_of,
)
from ingest.readers.repeated_answers import Origin, RepeatedAnswers
from ingest.records import ArgsState, Call, Place, Problem, Prompt, Response, Result

_ARGS_KEPT = 1024
_EMPTY_TEXTS = (b"", b'""', b'"(empty content)"')
_REDACTING_TOOL = "structured_output"
_NAMELESS = frozenset(("undefined_tool_name", "unknown_tool"))
"""What the client writes for a call without a name (code, 0.24.4; the second in the daemon). The call's own record and its
result would not agree otherwise."""
"""The one tool whose arguments the client replaces before it writes them; its guard hashes the real ones."""

_PROMPT_ORIGINS: dict[str, Literal["cron", "notification", "mid-turn"]] = {
    "cron": "cron",
    "notification": "notification",
    "mid_turn_user_message": "mid-turn",
}
_TIMESTAMP = re.compile(rb'"timestamp": ?"([^"]{8,40})"')
_HOUR = 3_600_000_000
_CLOCK_STEP = _HOUR
"""Microseconds. Records of one process may swap places within a second; only a clock that was set goes back so far."""
_TYPES = frozenset({"user", "assistant", "tool_result", "system"})
_NO_MESSAGE = WireMessage()
_NO_USAGE = WireUsage()
_NO_OUTCOME = WireOutcome()


class QwenChatReader(LineReader[WireRecord]):
    format = "qwen-chat"
    client = "qwen-code"
    version = 5
    decoder: ClassVar[msgspec.json.Decoder[Any]] = msgspec.json.Decoder(WireRecord)
    record_start = re.compile(r'\{"(?:uuid|backgroundTurn)":')

    def __init__(self, source: str, fingerprint: FingerprintFunction) -> None:
        super().__init__(source, fingerprint)
        self._stem = self.name.removesuffix(".jsonl")
        self._round: str | None = None
        self._last_uuid: str | None = None
        self._hangs_on: str | None = None
        """The parent of the first of the records that hang each on the one before it, up to the last."""
        self._last_ts: int | None = None
        self._told: list[str] = []
        """Kinds of Problem that are told once a source, at the first record that shows them."""
        self._unreadable_time: object = None
        self._unreadable_parent: object = None
        """Of the record now read."""
        self._is_loose = False
        """The record now read stands in the source with damage around or within it."""
        self._answers = RepeatedAnswers()

    @classmethod
    def claims(cls, sample: Sample) -> bool:
        return any(_is_ours(value) for value in sample.values)

    def from_object(self, value: dict[str, Any], exact: bool) -> WireRecord | None:
        wire = from_object(value, exact)
        self._unreadable_time = value.get("timestamp") if wire.timestamp is None else None
        parent = value.get("parentUuid")
        self._unreadable_parent = None if isinstance(parent, str) else parent
        return wire

    def _object(self, data: bytes, value: dict[str, Any], exact: bool, place: Place) -> Iterator[Row]:
        self._is_loose = True
        yield from super()._object(data, value, exact, place)
        self._is_loose, self._unreadable_time, self._unreadable_parent = False, None, None

    def memory(self) -> dict[str, Any]:
        return {
            "round": self._round,
            "uuid": self._last_uuid,
            "hangs on": self._hangs_on,
            "ts": self._last_ts,
            "told": self._told,
            "repeated": self._answers.memory(),
        }

    def recall(self, memory: dict[str, Any], earlier: Earlier) -> None:
        self._round, self._last_uuid, self._last_ts = memory["round"], memory["uuid"], memory["ts"]
        self._hangs_on, self._told = memory["hangs on"], memory["told"]
        self._answers.recall(memory["repeated"], partial(_answer_text, earlier))

    def time_of_last_record(self) -> int | None:
        return self._last_ts

    def time_of_fragment(self, piece: bytes) -> int | None:
        written = _TIMESTAMP.search(piece)
        return microseconds(time_of(written[1].decode("ascii", "replace"))) if written else None

    def rows(self, wire: WireRecord, place: Place) -> Sequence[Row] | None:
        if wire.type not in _TYPES or (wire.uuid is None and wire.message is None):
            return None
        session_id, ts = wire.session_id, microseconds(wire.timestamp)
        before, self._last_ts = self._last_ts, ts or self._last_ts
        uuid, parent = wire.uuid, wire.parent_uuid
        follows, self._last_uuid = parent == self._last_uuid, uuid
        if parent is None or not follows:
            self._hangs_on = parent
        frame = (
            place,
            session_id if session_id and not wire.is_sidechain else self._other_session(wire),
            uuid,
            parent,
            ts,
            wire.version,
            wire.cwd,
            wire.forked_from.session_id if wire.forked_from is not None else None,
        )
        rows = self._records(wire, frame)
        stepped_back = ts is not None and before is not None and before - ts > _CLOCK_STEP and follows
        if self._is_loose or ts is None or session_id is None or stepped_back or self._hangs_on_itself(uuid):
            return [*rows, *self._oddities(wire, place, ts, before if follows else None)]
        return rows

    def _hangs_on_itself(self, uuid: str | None) -> bool:
        return uuid == self._hangs_on and uuid is not None

    def _oddities(self, wire: WireRecord, place: Place, ts: int | None, before: int | None) -> Iterator[Problem]:
        """What is wrong with a record that was kept."""
        if wire.session_id is None:
            yield from self._tell_once("lost-header", "no session id in the record: the file's name stands in for it", place)
        if ts is None and self._unreadable_time is not None:
            detail = f"no time can be read from {ascii(self._unreadable_time)[:80]}: left empty"
            yield from self._tell_once("unreadable-time", detail, place)
        if self._unreadable_parent is not None:
            detail = f"{ascii(self._unreadable_parent)[:80]} is no record's id: the one before it in the file stands in"
            yield from self._tell_once("unreadable-parent", detail, place)
        if self._hangs_on_itself(wire.uuid):
            detail = "the record's own parents lead back to it: nothing that was written before them hangs together with it"
            yield from self._tell_once("circular-parents", detail, place)
        if ts is not None and before is not None and before - ts > _CLOCK_STEP:
            hours = (before - ts) / _HOUR
            detail = f"{hours:.1f} hours before the record that it follows: the order of the file is taken, not the clock's"
            yield Problem("clock-step", detail, place.offset, place.line)

    def _tell_once(self, kind: str, detail: str, place: Place) -> Iterator[Problem]:
        """At the first record that shows it."""
        if kind not in self._told:
            self._told.append(kind)
            yield Problem(kind, f"{detail}, here and below", place.offset, place.line)

    def _records(self, wire: WireRecord, frame: Frame) -> Sequence[Row]:
        if wire.type == "assistant":
            return (self._response(wire, frame),)
        if wire.is_sidechain:
            self._round = None
        if wire.type == "system":
            if wire.subtype == UI_TELEMETRY:
                return (telemetry_event(frame, wire.system_payload),)
            if wire.subtype == COMPRESSION:
                return (compaction(frame, wire.system_payload, self.fingerprint),)
            return (bookkeeping_event(frame, wire.subtype or wire.type, wire.system_payload),)
        parts = (wire.message or _NO_MESSAGE).parts or ()
        if wire.type == "tool_result" or _answers_only(parts):
            return self._results(wire, frame, parts)
        return (self._prompt(wire, frame),)

    def _other_session(self, wire: WireRecord) -> str:
        """Of a sub-agent's record, or of one without a session id."""
        if not wire.is_sidechain:
            return self._stem
        agent = self._stem if self._stem.startswith("agent-") or not wire.agent_id else f"agent-{wire.agent_id}"
        return f"{wire.session_id}/{agent}" if wire.session_id else agent

    def _prompt(self, wire: WireRecord, frame: Frame) -> Row:
        origin = _PROMPT_ORIGINS.get(wire.subtype or "")
        if origin is None and wire.subtype is not None:
            return bookkeeping_event(frame, wire.subtype, wire.system_payload)
        return Prompt(*frame, origin or ("sub-agent" if wire.is_sidechain else "user"), wire.daemon_prompt_id)

    def _response(self, wire: WireRecord, frame: Frame) -> Response:
        if wire.is_sidechain and wire.agent_round is not None:
            # A round is told twice: first its usage with an empty message, then its calls without a round number.
            self._round = f"{wire.agent_run_id or ''}#{wire.agent_round}"
        usage = wire.usage_metadata or _NO_USAGE
        calls: list[Call] = []
        has_text = has_thought = False
        for index, part in enumerate((wire.message or _NO_MESSAGE).parts or ()):
            if part.function_call is not None:
                calls.append(self._call(part.function_call, index))
            elif part.thought:
                has_thought = True
            elif bytes(memoryview(part.text)[:20]) not in _EMPTY_TEXTS:
                has_text = True
        return Response(
            *frame,
            wire.model,
            None,  # provider
            None,  # response_id
            self._round if wire.is_sidechain else None,
            usage.prompt_token_count,
            usage.candidates_token_count,
            usage.cached_content_token_count,
            None,  # stop_reason
            has_text,
            has_thought,
            tuple(calls),
        )

    def _call(self, call: WireCall, part: int) -> Call:
        state: ArgsState = "whole"
        if call.args is UNSET:
            state = "absent"
        elif call.args is CUT:
            state = "cut"
        elif call.name == _REDACTING_TOOL:
            state = "redacted"
        if state in ("absent", "cut"):
            return Call(call.id, _tool(call.name), part, args_state=state)
        self._answers.called(call.id, call.name, call.args)
        tool = _tool(call.name)
        digest, canonical = self.fingerprint(tool, call.args)
        return Call(
            call.id,
            tool,
            part,
            digest if state == "whole" else None,
            None,
            canonical[:_ARGS_KEPT].decode("utf-8", "ignore"),
            len(canonical),
            state,
        )

    def _results(self, wire: WireRecord, frame: Frame, parts: tuple[WirePart, ...]) -> Sequence[Row]:
        outcome = wire.tool_call_result or _NO_OUTCOME
        if len(parts) == 1:  # nearly all
            return (self._result(wire, frame, outcome, 0, parts[0].function_response),)
        answers = [(index, part.function_response) for index, part in enumerate(parts) if part.function_response is not None]
        if len(answers) < 2:
            return (self._result(wire, frame, outcome, *(answers[0] if answers else (0, None))),)
        return [
            self._result(wire, frame, outcome if answer.id == outcome.call_id else _NO_OUTCOME, index, answer)
            for index, answer in answers
        ]

    def _result(self, wire: WireRecord, frame: Frame, outcome: WireOutcome, index: int, answer: WireAnswer | None) -> Result:
        place, status, error_class = frame[0], outcome.status, outcome.error_type
        call_id, tool, response = outcome.call_id, None, _NO_RESPONSE
        if answer is not None:
            call_id, tool, response = answer.id or call_id, _tool(answer.name), answer.response
        size = len(memoryview(response))
        if status is None and wire.is_sidechain and size:
            status = "error" if is_failure(response) else "success"
            error_class = error_class or ("error" if status == "error" else None)
        reading, error = ORDINARY, None
        if status != "success":
            error = error_text(response)
            reading = read_answer(error, status, outcome.execution_status)
        digest = stable_digest = None
        if size:
            digest = _digest(response, size)
            origin = None if self._is_loose else (place.offset, place.length, index)
            stable_digest = self._answers.stable_digest(call_id, tool, response, size, digest, origin)
        return Result(
            *frame,
            call_id,
            tool,
            index,
            reading.answer,
            reading.quoted_id,
            reading.guard_hint,
            status,
            reading.error_class or error_class,
            outcome.execution_status,
            digest,
            stable_digest,
            first_line(error) if status == "error" and error is not None else None,
            size,
            outcome.duration_ms,
        )


_NO_RESPONSE = msgspec.Raw()


def _answer_text(earlier: Earlier, origin: Origin) -> bytes:
    offset, length, part = origin
    message = QwenChatReader.decoder.decode(earlier(offset, length)).message
    return bytes(message.parts[part].function_response.response)


def _tool(name: str | None) -> str:
    return "" if name is None or name in _NAMELESS else name


def _digest(response: msgspec.Raw, size: int) -> bytes:
    """8 bytes to tell answers apart: checksum and length. A cryptographic digest would cost as much as the whole decoding."""
    return (zlib.crc32(response) << 32 | size & 0xFFFFFFFF).to_bytes(8, "big")


def _answers_only(parts: tuple[WirePart, ...]) -> bool:
    return bool(parts) and all(part.function_response is not None for part in parts)


def _is_ours(value: dict[str, Any]) -> bool:
    """Claude Code's records share the frame (uuid, parentUuid, sessionId, type); message parts and payloads tell ours."""
    if (
        not isinstance(value.get("type"), str)
        or value["type"] not in _TYPES
        or "uuid" not in value
        or "parentUuid" not in value
    ):
        return False
    message = value.get("message")
    if isinstance(message, dict):
        return "parts" in message and message.get("role") in ("user", "model")
    return "systemPayload" in value or "toolCallResult" in value
