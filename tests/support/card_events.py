"""What an interface is told, put together event by event."""

from __future__ import annotations

from typing import Any, Literal

from analysis.cards import add_cards
from analysis.findings import SessionFindings
from analysis.fingerprint import fingerprint
from ingest.records import CardEvent, CardEventKind, Event, Place, SessionFacts

SECOND = 1_000_000


class CardLog:
    """Each event stands on a line of its own, a second after the one before."""

    def __init__(self, source: str = "/logs/desk.ndjson", surface: Literal["acp", "sse", "desktop"] = "desktop") -> None:
        self.source = source
        self.surface: Literal["acp", "sse", "desktop"] = surface
        self.events: list[CardEvent] = []
        self.ends: list[Event] = []
        self._round: int | None = None

    def _place(self) -> Place:
        line = len(self.events) + len(self.ends) + 1
        return Place(self.source, line * 100, 99, line)

    def _add(self, kind: CardEventKind, card_id: str | None, **more: Any) -> CardLog:
        place = self._place()
        event = CardEvent(
            place=place, session_id="s", ts=place.line * SECOND, surface=self.surface, kind=kind, card_id=card_id, **more
        )
        self.events.append(event)
        return self

    def round(self) -> CardLog:
        self._round = (self._round or 0) + 1
        return self._add("round", None, round_no=self._round)

    def delta(self, index: int, card_id: str | None, stream: str = "") -> CardLog:
        return self._add("delta", card_id, round_no=self._round, stream=stream, stream_index=index)

    def start(self, card_id: str | None, args: object = None, tool: str = "read_file", status: str = "running") -> CardLog:
        """args: an object, or the text of some that is still streamed."""
        if args is None or isinstance(args, str):
            told, digest = args, None
        else:
            digest, canonical = fingerprint(tool, args)
            told = canonical.decode()
        return self._add("start", card_id, tool=tool, round_no=self._round, status=status, args_json=told, fingerprint=digest)

    def completed(self, card_id: str | None, lines: int = 1, status: str = "completed") -> CardLog:
        return self._add("update", card_id, status=status, result_lines=lines)

    def update(self, card_id: str | None, status: str) -> CardLog:
        return self._add("update", card_id, status=status)

    def discarded(self, card_id: str | None) -> CardLog:
        return self._add("discard", card_id, status="failed", result_lines=0)

    def approval(self, card_id: str | None, answer: str) -> CardLog:
        return self._add("approval", card_id, status=answer)

    def reset(self) -> CardLog:
        return self._add("reset", None)

    def turn_ended(self, reason: str = "end_turn") -> CardLog:
        place = self._place()
        self.ends.append(
            Event(place=place, session_id="s", ts=place.line * SECOND, channel="wire", name="prompt_response", status=reason)
        )
        return self

    def facts(self) -> SessionFacts:
        return SessionFacts(
            session_id="s",
            kind="main",
            parent_session_id=None,
            client="desktop",
            records=(),
            events=tuple(self.ends),
            cards=tuple(self.events),
        )

    def found(self) -> SessionFindings:
        found = SessionFindings()
        add_cards(found, self.facts())
        return found
