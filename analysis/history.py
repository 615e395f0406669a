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
from typing import Literal

from analysis.provider_ids import IdSource, history_id, provider_id
from analysis.timeline import TimelineCall, TimelineResponse, Turn
from ingest.records import Compaction, HistoryEntry, Result

ENTRY_POINTS = ("headless", "tui", "acp", "serve", "sub-agent", "unknown")
DAEMONS = frozenset(("acp", "serve"))

PastCall = TimelineCall | HistoryEntry
"""A call that a guard may compare with: of this log, or one of which a compaction kept the fingerprint alone."""

Scope = Literal["entry-point", "headless", "tui", "daemon", "turn", "session"]
"""Which calls count as handled. `entry-point`: as the client's own entry point has it, one of the three after it. `turn`:
what ran in this turn; `session`: what was answered since the session began, compactions or not. No client has the last two."""
SCOPES: tuple[Scope, ...] = ("entry-point", "headless", "tui", "daemon", "turn", "session")


class ModelHistory:
    def __init__(self, replaced: ModelHistory | None = None) -> None:
        self.replaced = replaced
        """The history that a compaction put this one in the place of."""
        self.used: set[str] = set()
        """Every id in it, as a call's or as an answer's."""
        self._first_call: dict[str, PastCall] = {}
        self._answered: dict[str, int] = {}
        self._seen: dict[str, dict[bytes | None, list[tuple[int, PastCall]]]] = {}
        """Of each provider id the answered calls by fingerprint, each with the turn of its answer."""
        self.past: list[tuple[str | None, PastCall]] = []
        """The answered calls in order, each with its provider id."""
        self._open: list[tuple[str, str | None, PastCall]] = []

    def add_call(self, recorded: str | None, provider: str | None, call: PastCall) -> None:
        if recorded:
            self.used.add(recorded)
            self._first_call.setdefault(recorded, call)
            self._open.append((recorded, provider, call))

    def add_answer(self, recorded: str | None, turn_no: int) -> None:
        if not recorded:
            return
        self.used.add(recorded)
        self._answered.setdefault(recorded, turn_no)
        for index, (call_id, provider, call) in enumerate(self._open):
            if call_id == recorded:
                self._remember(provider, call, turn_no)
                del self._open[index]
                return

    def repair_orphans(self, turn_no: int) -> None:
        """Before the prompt of `turn_no` is sent: calls still open count as answered in the turn before."""
        for recorded, provider, call in self._open:
            self._answered.setdefault(recorded, turn_no - 1)
            self._remember(provider, call, turn_no - 1)
        self._open.clear()

    def _remember(self, provider: str | None, call: PastCall, turn_no: int) -> None:
        self.past.append((provider, call))
        if provider is not None:
            self._seen.setdefault(provider, {}).setdefault(call.fingerprint, []).append((turn_no, call))

    def knows(self, provider: str) -> bool:
        """Whether the id was ever answered in it. False settles every question below."""
        return provider in self._answered or provider in self._seen

    def answered(self, provider: str, before_turn: int) -> bool:
        return self._answered.get(provider, before_turn) < before_turn

    def first_call(self, provider: str) -> PastCall | None:
        return self._first_call.get(provider)

    def fingerprints(self, provider: str, before_turn: int) -> set[bytes | None]:
        return {fp for fp, calls in self._seen.get(provider, {}).items() if calls[0][0] < before_turn}

    def calls(self, provider: str, before_turn: int) -> Iterator[PastCall]:
        for calls in self._seen.get(provider, {}).values():
            yield from (call for turn_no, call in calls if turn_no < before_turn)

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


@dataclass(slots=True)
class Handled:
    """The ids a guard takes as handled at one batch. Valid until the walk goes on."""

    histories: tuple[ModelHistory, ...]
    before_turn: int
    admitted: dict[str, list[TimelineCall]]
    """Raw ids let through in this prompt, with the calls in order; empty for the daemon, which asks the history."""

    def knows(self, provider: str) -> bool:
        """Whether the id was ever handled, by any way of asking. False settles every question below."""
        return provider in self.admitted or any(history.knows(provider) for history in self.histories)

    def has(self, provider: str) -> bool:
        """Answered before, whatever the arguments: what the guard of 0.21 asks."""
        answered = any(history.answered(provider, self.before_turn) for history in self.histories)
        return answered or provider in self.admitted

    def has_call(self, provider: str) -> bool:
        """Answered, and the call is known: what the guard of 0.23 asks. An answer alone does not count (oracle, `history`)."""
        return self.first_call(provider) is not None

    def first_call(self, provider: str) -> PastCall | None:
        """The first call handled under the id."""
        for history in self.histories:
            if history.answered(provider, self.before_turn) and (call := history.first_call(provider)) is not None:
                return call
        admitted = self.admitted.get(provider)
        return admitted[0] if admitted else None

    def first(self, provider: str) -> bytes | None:
        """Fingerprint of the first call handled under the id; None where its arguments are not whole."""
        call = self.first_call(provider)
        return call.fingerprint if call is not None else None

    def all(self, provider: str) -> set[bytes | None]:
        """Of every call handled under the id, the first included: it may be known by its recorded id alone (recording f4)."""
        admitted = {call.fingerprint for call in self.admitted.get(provider, ())}
        if self.has_call(provider):
            admitted.add(self.first(provider))
        return admitted.union(*(history.fingerprints(provider, self.before_turn) for history in self.histories))

    def calls(self, provider: str) -> list[PastCall]:
        """Every call handled under the id, once, the first one first."""
        first = self.first_call(provider)
        calls = {id(first): first} if first is not None else {}
        for history in self.histories:
            calls.update((id(call), call) for call in history.calls(provider, self.before_turn))
        calls.update((id(call), call) for call in self.admitted.get(provider, ()))
        return list(calls.values())


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
    session: Walk
    turn: Turn
    entry_point: str
    response: TimelineResponse
    calls: list[BatchCall]
    handled: Handled
    """As the entry point has it."""
    all_new: bool
    """No call has an id that was handled before, or that the response already holds."""
    is_last: bool = False
    """No later response in the turn."""

    def handled_in(self, scope: Scope) -> Handled:
        return self.handled if scope == "entry-point" else self.session.handled(scope, self.turn.no)


class Walk:
    """The session's batches in order, each with what was handled just before it; one turn at a time."""

    def __init__(self, session_id: str, client: str) -> None:
        self.session_id = session_id
        self.client = client
        self.history = ModelHistory()
        self._at_prompt = self.history
        self._admitted: dict[str, list[TimelineCall]] = {}

    def batches(self, turn: Turn, entry_point: str) -> Iterator[Batch]:
        self.history.repair_orphans(turn.no)
        self._at_prompt, self._admitted = self.history, {}
        scope = _scope_of(entry_point)
        raw_ids: dict[int, str | None] = {}
        for item in turn.items:
            if isinstance(item, Compaction):
                self.history = ModelHistory.after(item, turn.no, self.history)
            elif isinstance(item, Result):
                self.history.add_answer(history_id(item.recorded_id), turn.no)
                self._admit(turn, item, raw_ids)
            elif isinstance(item, TimelineResponse) and item.calls:
                calls = _batch_calls(item, self.history.used)
                handled = self.handled(scope, turn.no)
                new = not any(
                    call.same_response or (call.provider_id is not None and handled.knows(call.provider_id)) for call in calls
                )
                yield Batch(self, turn, entry_point, item, calls, handled, new, is_last=item is turn.responses[-1])
                for call in calls:
                    recorded = history_id(call.call.call.recorded_id)
                    # Without a provider's id it is handled under the client's, which the model may echo (runs of 0.21, 0.24).
                    raw_ids[id(call.call)] = call.provider_id or recorded
                    self.history.add_call(recorded, call.provider_id, call.call)

    def handled(self, scope: Scope, turn_no: int) -> Handled:
        match scope:
            case "daemon":
                return Handled((self.history,), turn_no + 1, {})
            case "tui":
                return Handled((self.history,), turn_no + 1, self._admitted)
            case "turn":
                return Handled((), turn_no, self._admitted)
            case "session":
                return Handled(tuple(_from_the_start(self.history)), turn_no + 1, self._admitted)
            case _:
                return Handled((self._at_prompt,), turn_no, self._admitted)

    def _admit(self, turn: Turn, result: Result, raw_ids: dict[int, str | None]) -> None:
        """A call that was run (or refused with an ordinary error) counts as let through; a synthetic answer does not."""
        if result.answer not in ("tool", "cancelled"):
            return
        call = turn.call_answered_by(result)
        provider = raw_ids.get(id(call)) if call is not None else None
        if call is not None and provider is not None:
            self._admitted.setdefault(provider, []).append(call)


def _scope_of(entry_point: str) -> Scope:
    if entry_point in DAEMONS:
        return "daemon"
    return "tui" if entry_point == "tui" else "headless"


def _from_the_start(history: ModelHistory) -> list[ModelHistory]:
    chain = [history]
    while chain[-1].replaced is not None:
        chain.append(chain[-1].replaced)
    return chain[::-1]


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
