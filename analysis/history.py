"""What a guard could know at a call: the ids that were handled, as each entry point of the client keeps them.

`ModelHistory` is the history that the client sends to the model, rebuilt along the live branch:
- a compaction replaces it, so ids it dropped are free again (recordings h6, h9);
- a call left without an answer gets one in memory before the next prompt is sent (orphan repair, h8, h10), so it counts as
  handled from then on, although it is written nowhere;
- a synthetic answer and a failure are answers.
Every entry remembers the turn in which it was answered, so that "the history at the start of this prompt" needs no copy.

`Handled` is what the client's guard asks. Scope per entry point (QWEN_CODE.md 7, code and runs of 0.21.2 to 0.24.4):
headless and sub-agents hold the history at the start of the prompt (or loop) plus the raw ids they let through since, and keep
both over a compaction in mid-prompt; the TUI takes the current history and those raw ids; the daemon the current history alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from analysis.provider_ids import IdSource, history_id, provider_id
from analysis.timeline import TimelineCall, TimelineResponse, Turn
from ingest.records import Compaction, Result

ENTRY_POINTS = ("headless", "tui", "acp", "serve", "sub-agent", "unknown")
DAEMONS = frozenset(("acp", "serve"))


class ModelHistory:
    def __init__(self) -> None:
        self.used: set[str] = set()
        """Every id in it, as a call's or as an answer's."""
        self._first_call: dict[str, bytes | None] = {}
        self._answered: dict[str, int] = {}
        self._seen: dict[str, dict[bytes | None, int]] = {}
        self._open: list[tuple[str, str | None, bytes | None]] = []

    def add_call(self, recorded: str | None, provider: str | None, fingerprint: bytes | None) -> None:
        if recorded:
            self.used.add(recorded)
            self._first_call.setdefault(recorded, fingerprint)
            self._open.append((recorded, provider, fingerprint))

    def add_answer(self, recorded: str | None, turn_no: int) -> None:
        if not recorded:
            return
        self.used.add(recorded)
        self._answered.setdefault(recorded, turn_no)
        for index, (call_id, provider, fingerprint) in enumerate(self._open):
            if call_id == recorded:
                self._remember(provider, fingerprint, turn_no)
                del self._open[index]
                return

    def repair_orphans(self, turn_no: int) -> None:
        """Before the prompt of `turn_no` is sent: calls still open count as answered in the turn before."""
        for recorded, provider, fingerprint in self._open:
            self._answered.setdefault(recorded, turn_no - 1)
            self._remember(provider, fingerprint, turn_no - 1)
        self._open.clear()

    def _remember(self, provider: str | None, fingerprint: bytes | None, turn_no: int) -> None:
        if provider is not None:
            self._seen.setdefault(provider, {}).setdefault(fingerprint, turn_no)

    def answered(self, provider: str, before_turn: int) -> bool:
        return self._answered.get(provider, before_turn) < before_turn

    def first_fingerprint(self, provider: str) -> bytes | None:
        return self._first_call.get(provider)

    def has_call(self, provider: str) -> bool:
        return provider in self._first_call

    def fingerprints(self, provider: str, before_turn: int) -> set[bytes | None]:
        return {fp for fp, turn_no in self._seen.get(provider, {}).items() if turn_no < before_turn}

    @classmethod
    def after(cls, compaction: Compaction, turn_no: int) -> ModelHistory:
        history = cls()
        for entry in compaction.entries:
            recorded = history_id(entry.recorded_id)
            if entry.kind == "call":
                provider, _ = provider_id(entry.recorded_id, history.used)
                history.add_call(recorded, provider, entry.fingerprint)
            else:
                history.add_answer(recorded, turn_no)
        return history


@dataclass(slots=True)
class Handled:
    """The ids a guard takes as handled at one batch. Valid until the walk goes on."""

    history: ModelHistory
    before_turn: int
    admitted: dict[str, list[bytes | None]]
    """Raw ids let through in this prompt, with the fingerprints in order; empty for the daemon, which asks the history."""

    def has(self, provider: str) -> bool:
        """Answered before, whatever the arguments: what the guard of 0.21 asks."""
        return self.history.answered(provider, self.before_turn) or provider in self.admitted

    def has_call(self, provider: str) -> bool:
        """Answered, and the call is known: what the guard of 0.23 asks. An answer alone does not count (oracle, `history`)."""
        in_history = self.history.answered(provider, self.before_turn) and self.history.has_call(provider)
        return in_history or provider in self.admitted

    def first(self, provider: str) -> bytes | None:
        """Fingerprint of the first call handled under the id; None where its arguments are not whole."""
        if self.history.answered(provider, self.before_turn) and self.history.has_call(provider):
            return self.history.first_fingerprint(provider)
        return self.admitted[provider][0]

    def all(self, provider: str) -> set[bytes | None]:
        return self.history.fingerprints(provider, self.before_turn) | set(self.admitted.get(provider, ()))


@dataclass(slots=True, eq=False)
class BatchCall:
    call: TimelineCall
    provider_id: str | None
    id_source: IdSource
    same_response: bool
    """The response already held a call of this raw id: the client drops it before its guard (code, all versions)."""

    @property
    def fingerprint(self) -> bytes | None:
        return self.call.fingerprint


@dataclass(slots=True, eq=False)
class Batch:
    turn: Turn
    response: TimelineResponse
    calls: list[BatchCall]
    handled: Handled
    is_last: bool = False
    """No later response in the turn."""


class Walk:
    """The session's batches in order, each with what was handled just before it; one turn at a time."""

    def __init__(self) -> None:
        self._history = ModelHistory()

    def batches(self, turn: Turn, entry_point: str) -> Iterator[Batch]:
        self._history.repair_orphans(turn.no)
        snapshot = self._history
        admitted: dict[str, list[bytes | None]] = {}
        raw_ids: dict[int, str | None] = {}
        for item in turn.items:
            if isinstance(item, Compaction):
                self._history = ModelHistory.after(item, turn.no)
            elif isinstance(item, Result):
                self._history.add_answer(history_id(item.recorded_id), turn.no)
                _admit(turn, item, raw_ids, admitted)
            elif isinstance(item, TimelineResponse) and item.calls:
                calls = _batch_calls(item, self._history.used)
                handled = _handled(entry_point, self._history, snapshot, turn.no, admitted)
                yield Batch(turn, item, calls, handled, is_last=item is turn.responses[-1])
                for call in calls:
                    recorded = history_id(call.call.call.recorded_id)
                    # Without a provider's id it is handled under the client's, which the model may echo (runs of 0.21, 0.24).
                    raw_ids[id(call.call)] = call.provider_id or recorded
                    self._history.add_call(recorded, call.provider_id, call.fingerprint)


def _handled(
    entry_point: str,
    history: ModelHistory,
    snapshot: ModelHistory,
    turn_no: int,
    admitted: dict[str, list[bytes | None]],
) -> Handled:
    if entry_point in DAEMONS:
        return Handled(history, turn_no + 1, {})
    if entry_point == "tui":
        return Handled(history, turn_no + 1, admitted)
    return Handled(snapshot, turn_no, admitted)


def _admit(turn: Turn, result: Result, raw_ids: dict[int, str | None], admitted: dict[str, list[bytes | None]]) -> None:
    """A call that was run (or refused with an ordinary error) counts as let through; a synthetic answer does not."""
    if result.answer not in ("tool", "cancelled"):
        return
    call = turn.call_answered_by(result)
    provider = raw_ids.get(id(call)) if call is not None else None
    if call is not None and provider is not None:
        admitted.setdefault(provider, []).append(call.fingerprint)


def _batch_calls(response: TimelineResponse, used: set[str]) -> list[BatchCall]:
    calls: list[BatchCall] = []
    in_response: set[str] = set()
    for call in response.calls:
        quoted = call.result.quoted_id if call.result is not None else None
        provider, source = provider_id(call.call.recorded_id, used)
        if call.call.provider_id is not None or quoted:
            provider, source = call.call.provider_id or quoted, "recorded"
        repeated = provider is not None and provider in in_response
        calls.append(BatchCall(call, provider, source, repeated))
        if provider is not None:
            in_response.add(provider)
    return calls
