"""`session/update` messages of the Agent Client Protocol: what they say of a session's tool cards, over stdio or SSE alike.

Which model response a call belongs to stands in no message. The client sends one chunk with the usage at the end of each
response: a call that is announced while it is still streamed (phase `preparing`, from 0.21) comes before that chunk, any other
after it (0.12.0 to 0.24.4, all recordings). An agent that tells no usage is taken to go on to its next response when it
announces a call after all calls before have ended.
"""

from __future__ import annotations

from typing import Any, Literal

from ingest.readers.base import FingerprintFunction
from ingest.readers.qwen_events import text
from ingest.readers.told_values import Args, args_of, lines_of, mapping
from ingest.records import CardEvent, Place

_ENDED = frozenset({"completed", "failed"})
_NOTHING_TOLD = Args("", None)


class SessionUpdates:
    """The updates of one session in their order."""

    def __init__(self, session_id: str, surface: Literal["acp", "sse"], fingerprint: FingerprintFunction) -> None:
        self.session_id = session_id
        self._surface = surface
        self._fingerprint = fingerprint
        self._responses = 0
        self._usage_is_told = False
        self._open: set[str | None] = set()
        self._has_ended_calls = False

    def card_event(self, update: dict[str, Any], place: Place, **common: Any) -> CardEvent | None:
        """None where the update concerns no call. common: ts, version and the like."""
        kind = update.get("sessionUpdate")
        meta = mapping(update.get("_meta"))
        if kind == "agent_message_chunk" and isinstance(meta.get("usage"), dict):
            self._responses += 1
            self._usage_is_told = True
        if kind == "tool_call":
            return self._start(update, meta, place, common)
        if kind == "tool_call_update":
            return self._update(update, meta, place, common)
        return None

    def reset(self, place: Place, **common: Any) -> CardEvent:
        self._open.clear()
        return CardEvent(place=place, session_id=self.session_id, surface=self._surface, kind="reset", **common)

    def asked(self, call: dict[str, Any], place: Place, **common: Any) -> CardEvent:
        meta = mapping(call.get("_meta"))
        return self._event("ask", call, meta, self._args(call, meta), place, common)

    def answered(self, call: dict[str, Any], answer: str, place: Place, **common: Any) -> CardEvent:
        meta = mapping(call.get("_meta"))
        return self._event("approval", call | {"status": answer}, meta, self._args(call, meta), place, common)

    def _start(self, update: dict[str, Any], meta: dict[str, Any], place: Place, common: dict[str, Any]) -> CardEvent:
        is_streamed = meta.get("phase") == "preparing"
        if not self._usage_is_told and self._has_ended_calls and not self._open:
            self._responses += 1
            self._has_ended_calls = False
        before_usage = is_streamed or not self._usage_is_told
        round_no = self._responses + 1 if before_usage else max(self._responses, 1)
        self._follow(update)
        return self._event("start", update, meta, self._args(update, meta), place, common, round_no)

    def _update(self, update: dict[str, Any], meta: dict[str, Any], place: Place, common: dict[str, Any]) -> CardEvent:
        self._follow(update)
        kind: Literal["discard", "update"] = "discard" if meta.get("preparationDiscarded") else "update"
        return self._event(kind, update, meta, self._args(update, meta), place, common)

    def _follow(self, update: dict[str, Any]) -> None:
        card_id, status = text(update.get("toolCallId")), text(update.get("status"))
        if status in _ENDED:
            self._open.discard(card_id)
            self._has_ended_calls = True
        elif status is not None:
            self._open.add(card_id)

    def _args(self, update: dict[str, Any], meta: dict[str, Any]) -> Args:
        """While a call is prepared its arguments are told as `{}`, whatever they will be."""
        told = update.get("rawInput")
        if told is None or (not told and meta.get("phase") == "preparing"):
            return _NOTHING_TOLD
        return args_of(_tool(update, meta) or "", told, self._fingerprint)

    def _event(
        self,
        kind: Literal["start", "update", "discard", "ask", "approval"],
        update: dict[str, Any],
        meta: dict[str, Any],
        args: Args,
        place: Place,
        common: dict[str, Any],
        round_no: int | None = None,
    ) -> CardEvent:
        status = text(update.get("status"))
        return CardEvent(
            place=place,
            session_id=self.session_id,
            surface=self._surface,
            kind=kind,
            card_id=text(update.get("toolCallId")),
            tool=_tool(update, meta),
            round_no=round_no,
            args_json=args.json or None,
            fingerprint=args.fingerprint,
            status=status,
            result_lines=_shown_lines(update.get("content")) if status in _ENDED else None,
            **common,
        )


def _tool(update: dict[str, Any], meta: dict[str, Any]) -> str | None:
    """Other agents tell no tool name: the title up to its colon is what a person sees of it."""
    title = text(update.get("title"))
    return text(meta.get("toolName")) or (title.partition(":")[0] if title else None)


def _shown_lines(content: object) -> int:
    """Each block of a card holds a text, or a file before and after a change, of which the card shows what is new."""
    blocks = content if isinstance(content, list) else []
    return sum(lines_of(block.get("newText") or block.get("content")) for block in blocks if isinstance(block, dict))
