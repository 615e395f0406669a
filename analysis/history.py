"""What a guard could know at a call: the ids that were handled, as each entry point of the client keeps them.

`Handled` is what the client's guard asks. Scope per entry point (QWEN_CODE.md 7, code and runs of 0.21.2 to 0.24.4):
headless and sub-agents hold the history at the start of the prompt (or loop) plus the raw ids they let through since, and keep
both over a compaction in mid-prompt; the TUI takes the current history and those raw ids; the daemon the current history alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from msgspec import Struct

from analysis.model_history import ALWAYS, ModelHistory, Past, PastCall
from analysis.provider_ids import IdSource, history_id, provider_id_of
from analysis.timeline import TimelineCall, TimelineResponse, Turn
from ingest.records import Compaction, Result

ENTRY_POINTS = ("headless", "tui", "acp", "serve", "sub-agent", "unknown")
DAEMONS = frozenset(("acp", "serve"))

Scope = Literal["entry-point", "headless", "tui", "daemon", "turn", "session"]
"""Which calls count as handled. `entry-point`: as the client's own entry point has it, one of the three after it. `turn`:
what ran in this turn; `session`: what was answered since the session began, compactions or not. No client has the last two."""
SCOPES: tuple[Scope, ...] = ("entry-point", "headless", "tui", "daemon", "turn", "session")


class Handled(Struct, eq=False):
    """The ids a guard takes as handled at one batch. Valid until the walk goes on."""

    histories: tuple[ModelHistory, ...]
    before_turn: int
    admitted: Past
    """Calls let through in this prompt, under their raw ids; none for the daemon, which asks the history."""
    _firsts: dict[str, PastCall | None] = {}
    """What `first_call` has answered: all that ask about a batch ask it."""

    def knows(self, provider: str) -> bool:
        """Whether the id was ever handled, by any way of asking. False settles every question below."""
        return provider in self.admitted or any(history.knows(provider) for history in self.histories)

    def has(self, provider: str) -> bool:
        """Answered before, whatever the arguments: what the guard of 0.21 asks."""
        if provider in self.admitted:
            return True
        return any(history.answered(provider, self.before_turn) for history in self.histories)

    def has_call(self, provider: str) -> bool:
        """Answered, and the call is known: what the guard of 0.23 asks. An answer alone does not count (oracle, `history`)."""
        return self.first_call(provider) is not None

    def first_call(self, provider: str) -> PastCall | None:
        """The first call handled under the id."""
        if provider not in self._firsts:
            self._firsts[provider] = self._first_call(provider)
        return self._firsts[provider]

    def _first_call(self, provider: str) -> PastCall | None:
        for history in self.histories:
            if history.answered(provider, self.before_turn) and (call := history.first_call(provider)) is not None:
                return call
        return next(self.admitted.first_of_each(provider, ALWAYS), None)

    def first(self, provider: str) -> bytes | None:
        """Fingerprint of the first call handled under the id; None where its arguments are not whole."""
        call = self.first_call(provider)
        return call.fingerprint if call is not None else None

    def has_any_call(self, provider: str) -> bool:
        return self.has_call(provider) or any(past.has_any(provider, before) for past, before in self._pasts())

    def has_fingerprint(self, provider: str, fingerprint: bytes | None) -> bool:
        """Whether a call handled under the id has it; the first may be known by its recorded id alone (recording f4)."""
        first = self.first_call(provider)
        if first is not None and first.fingerprint == fingerprint:
            return True
        for history in self.histories:
            if history.answered_calls.has_fingerprint(provider, fingerprint, self.before_turn):
                return True
        return self.admitted.has_fingerprint(provider, fingerprint, ALWAYS)

    def with_fingerprint(self, provider: str, fingerprint: bytes | None) -> Iterator[PastCall]:
        """The calls handled under the id that have this fingerprint. One may come twice."""
        first = self.first_call(provider)
        if first is not None and first.fingerprint == fingerprint:
            yield first
        for past, before in self._pasts():
            yield from past.with_fingerprint(provider, fingerprint, before)

    def first_of_each(self, provider: str) -> list[PastCall]:
        """Of the calls handled under the id the first of each fingerprint, and the first of all first: a loop of ten thousand
        equal calls is one."""
        first = self.first_call(provider)
        found = {first.fingerprint: first} if first is not None else {}
        for past, before in self._pasts():
            for call in past.first_of_each(provider, before):
                found.setdefault(call.fingerprint, call)
        return list(found.values())

    def _pasts(self) -> Iterator[tuple[Past, int]]:
        yield from ((history.answered_calls, self.before_turn) for history in self.histories)
        yield self.admitted, ALWAYS


class BatchCall(Struct, eq=False, gc=False):
    call: TimelineCall
    provider_id: str | None
    id_source: IdSource
    fingerprint: bytes | None
    same_response: bool = False
    """The response already held a call of this raw id: the client drops it before its guard (code, all versions)."""


class Batch(Struct, eq=False):
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

    @property
    def all_differ(self) -> bool:
        """No call of it can equal another of the turn: one without a fingerprint may equal any."""
        repeated = self.turn.repeated
        return not repeated or (None not in repeated and all(call.fingerprint not in repeated for call in self.calls))

    def handled_in(self, scope: Scope) -> Handled:
        return self.handled if scope == "entry-point" else self.session.handled(scope, self.turn.no)


class Walk:
    """The session's batches in order, each with what was handled just before it; one turn at a time."""

    def __init__(self, session_id: str, client: str) -> None:
        self.session_id = session_id
        self.client = client
        self.history = ModelHistory()
        self._at_prompt = self.history
        self._admitted = Past()

    def batches(self, turn: Turn, entry_point: str) -> Iterator[Batch]:
        self.history.repair_orphans(turn.no)
        self._at_prompt, self._admitted = self.history, Past()
        scope = _scope_of(entry_point)
        raw_ids: dict[int, str | None] = {}
        call_of = turn.calls_by_result()
        for item in turn.items:
            if isinstance(item, Compaction):
                self.history = ModelHistory.after(item, turn.no, self.history)
            elif isinstance(item, Result):
                self.history.add_answer(history_id(item.recorded_id), turn.no)
                self._admit(turn.no, item, call_of.get(id(item)), raw_ids)
            elif isinstance(item, TimelineResponse) and item.calls:
                calls = _batch_calls(item, self.history.used)
                handled = self.handled(scope, turn.no)
                new = not any(
                    call.same_response or (call.provider_id is not None and handled.knows(call.provider_id)) for call in calls
                )
                yield Batch(self, turn, entry_point, item, calls, handled, new, is_last=item is turn.responses[-1])
                for call in calls:
                    recorded = call.call.history_id
                    # Without a provider's id it is handled under the client's, which the model may echo (runs of 0.21, 0.24).
                    raw_ids[id(call.call)] = call.provider_id or recorded
                    self.history.add_call(recorded, call.provider_id, call.call)

    def handled(self, scope: Scope, turn_no: int) -> Handled:
        match scope:
            case "daemon":
                return Handled((self.history,), turn_no + 1, Past())
            case "tui":
                return Handled((self.history,), turn_no + 1, self._admitted)
            case "turn":
                return Handled((), turn_no, self._admitted)
            case "session":
                return Handled(tuple(_from_the_start(self.history)), turn_no + 1, self._admitted)
            case _:
                return Handled((self._at_prompt,), turn_no, self._admitted)

    def _admit(self, turn_no: int, result: Result, call: TimelineCall | None, raw_ids: dict[int, str | None]) -> None:
        """A call that was run (or refused with an ordinary error) counts as let through; a synthetic answer does not."""
        provider = raw_ids.get(id(call)) if call is not None and result.answer in ("tool", "cancelled") else None
        if call is not None and provider is not None:
            self._admitted.add(provider, call, turn_no)


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
        provider, source = provider_id_of(call.history_id, used)
        if call.call.provider_id is not None or quoted:
            provider, source = call.call.provider_id or quoted, "recorded"
        repeated = provider is not None and provider in in_response
        calls.append(BatchCall(call, provider, source, call.fingerprint, repeated))
        if provider is not None:
            in_response.add(provider)
    return calls
