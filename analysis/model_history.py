"""The calls that came before, as the client keeps them: what was answered under each id, and the history sent to the model.

`ModelHistory` is that history, rebuilt along the live branch:
- a compaction replaces it, so ids it dropped are free again (recordings h6, h9);
- a call left without an answer gets one in memory before the next prompt is sent (orphan repair, h8, h10), so it counts as
  handled from then on, although it is written nowhere;
- a synthetic answer and a failure are answers.
Every entry remembers the turn in which it was answered, so that "the history at the start of this prompt" needs no copy.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Iterator

from analysis.provider_ids import history_id, provider_id
from analysis.timeline import TimelineCall
from ingest.records import Compaction, HistoryEntry

ALWAYS = sys.maxsize
"""A turn that comes after all others."""

PastCall = TimelineCall | HistoryEntry
"""A call that a guard may compare with: of this log, or one of which a compaction kept the fingerprint alone."""


class Past:
    """Calls by provider id: which they were, in their order, and which fingerprints they had."""

    def __init__(self) -> None:
        self._of_id: dict[str, dict[bytes | None, list[tuple[int, PastCall]]]] = {}
        """Of each id by fingerprint the calls, each with the turn of its answer."""

    def add(self, provider: str, call: PastCall, turn_no: int) -> None:
        self._of_id.setdefault(provider, {}).setdefault(call.fingerprint, []).append((turn_no, call))

    def __contains__(self, provider: str) -> bool:
        return provider in self._of_id

    def first_of_each(self, provider: str, before_turn: int) -> Iterator[PastCall]:
        """The first call of each fingerprint, where that was answered before the turn."""
        for calls in self._of_id.get(provider, {}).values():
            turn_no, call = calls[0]
            if turn_no < before_turn:
                yield call

    def has_any(self, provider: str, before_turn: int) -> bool:
        """Turns come in order, so that the first call under the id is of the earliest."""
        first = next(iter(self._of_id.get(provider, {}).values()), None)
        return first is not None and first[0][0] < before_turn

    def has_fingerprint(self, provider: str, fingerprint: bytes | None, before_turn: int) -> bool:
        calls = self._of_id.get(provider, {}).get(fingerprint)
        return calls is not None and calls[0][0] < before_turn

    def with_fingerprint(self, provider: str, fingerprint: bytes | None, before_turn: int) -> Iterator[PastCall]:
        for turn_no, call in self._of_id.get(provider, {}).get(fingerprint, ()):
            if turn_no >= before_turn:
                return
            yield call


class ModelHistory:
    def __init__(self, replaced: ModelHistory | None = None) -> None:
        self.replaced = replaced
        """The history that a compaction put this one in the place of."""
        self.used: set[str] = set()
        """Every id in it, as a call's or as an answer's."""
        self._first_call: dict[str, PastCall] = {}
        self._answered: dict[str, int] = {}
        self.answered_calls = Past()
        self.past: list[tuple[str | None, PastCall]] = []
        """The answered calls in order, each with its provider id."""
        self._open: dict[int, tuple[str, str | None, PastCall]] = {}
        """In their order, by number."""
        self._open_of_id: dict[str, deque[int]] = {}
        self._calls = 0

    def add_call(self, recorded: str | None, provider: str | None, call: PastCall) -> None:
        if recorded:
            self.used.add(recorded)
            self._first_call.setdefault(recorded, call)
            self._calls += 1
            self._open[self._calls] = (recorded, provider, call)
            self._open_of_id.setdefault(recorded, deque()).append(self._calls)

    def add_answer(self, recorded: str | None, turn_no: int) -> None:
        if not recorded:
            return
        self.used.add(recorded)
        self._answered.setdefault(recorded, turn_no)
        waiting = self._open_of_id.get(recorded)
        if waiting:
            _, provider, call = self._open.pop(waiting.popleft())
            self._remember(provider, call, turn_no)

    def repair_orphans(self, turn_no: int) -> None:
        """Before the prompt of `turn_no` is sent: calls still open count as answered in the turn before."""
        for recorded, provider, call in self._open.values():
            self._answered.setdefault(recorded, turn_no - 1)
            self._remember(provider, call, turn_no - 1)
        self._open.clear()
        self._open_of_id.clear()

    def _remember(self, provider: str | None, call: PastCall, turn_no: int) -> None:
        self.past.append((provider, call))
        if provider is not None:
            self.answered_calls.add(provider, call, turn_no)

    def knows(self, provider: str) -> bool:
        """Whether the id was ever answered in it. False settles every question below."""
        return provider in self._answered or provider in self.answered_calls

    def answered(self, provider: str, before_turn: int) -> bool:
        return self._answered.get(provider, before_turn) < before_turn

    def first_call(self, provider: str) -> PastCall | None:
        return self._first_call.get(provider)

    @classmethod
    def after(cls, compaction: Compaction, turn_no: int, replaced: ModelHistory) -> ModelHistory:
        history = cls(replaced)
        for entry in compaction.entries:
            recorded = history_id(entry.recorded_id)
            if entry.kind == "call":
                provider, _ = provider_id(entry.recorded_id, history.used)
                history.add_call(recorded, provider, entry)
            else:
                history.add_answer(recorded, turn_no)
        return history
