"""A guard over one turn: what it would have decided, where it first differs from what was done, and where it trips.

A guard is replayed on a history that another guard shaped. Up to and including the first response on which it decides
otherwise than was done, its decisions are facts about that history (`observed`); after it they are `counterfactual`, because
the model would have been told something else. Each turn starts again from what really happened: the handled ids, and in a
daemon's cron and background turns, which do not clear them, the ids really answered.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from analysis.guards import Answered, Contender, Decision
from analysis.history import Batch, BatchCall

Outcome = Literal["executed", "failed", "suppressed", "dropped", "skipped", "cancelled", "unanswered", "unknown"]
Done = Literal["execute", "suppress", "stop", "unknown"]

_DONE: dict[Outcome, Done] = {
    "executed": "execute",
    "failed": "execute",
    "cancelled": "execute",
    "suppressed": "suppress",
    "dropped": "stop",
    "skipped": "stop",
    "unanswered": "execute",
    "unknown": "unknown",
}
_DECIDED: dict[Decision, Done] = {
    "execute": "execute",
    "suppress": "suppress",
    "trip": "stop",
    "drop": "stop",
    "unknown": "unknown",
}


class Trip(Struct, frozen=True, eq=False):
    batch: Batch
    call: BatchCall

    @property
    def response_no(self) -> int:
        return self.batch.response.no


class Decided(Struct, eq=False):
    exceptions: list[tuple[int, int, Decision]] = []
    """(response, call, decision) wherever the decision is not `execute`."""
    divergence: tuple[int, int] | None = None
    """(response, call) of the first decision that differs from what was done."""
    trip: Trip | None = None

    @property
    def trip_is_observed(self) -> bool:
        return self.trip is not None and (self.divergence is None or self.trip.response_no <= self.divergence[0])


class TurnReplay(Decided, eq=False, kw_only=True):
    contender: Contender
    answered: Answered

    def decide(self, batch: Batch) -> Sequence[Decision]:
        """Raises GuardFailed where the guard is not ours."""
        return self.contender.guard.decide(batch, batch.handled_in(self.contender.world.scope), self.answered)

    def see(self, batch: Batch, done: Sequence[Done]) -> None:
        """Take the batch in. Nothing after a trip: the turn is over for this guard."""
        if self.trip is not None:
            return
        if batch.all_new and self._runs_what_is_new(batch) and (self.divergence is not None or _was_run(done)):
            return  # nothing to compare, nothing to decide: nearly every batch there is
        for call, decision, was_done in zip(batch.calls, self.decide(batch), done, strict=True):
            if decision != "execute":
                self.exceptions.append((batch.response.no, call.call.no, decision))
            if self.divergence is None and _differ(_DECIDED[decision], was_done):
                self.divergence = (batch.response.no, call.call.no)
            if decision == "trip":
                self.trip = Trip(batch, call)
            elif decision == "suppress" and call.provider_id is not None:
                _count(self.answered.surely, call.provider_id)
            elif decision == "unknown" and call.provider_id is not None:
                _count(self.answered.maybe, call.provider_id)

    def _runs_what_is_new(self, batch: Batch) -> bool:
        one = self.contender
        return one.can_skip_new_ids or (one.can_skip_new_calls and batch.all_differ)


def _differ(decided: Done, done: Done) -> bool:
    return "unknown" not in (decided, done) and decided != done


def _was_run(done: Sequence[Done]) -> bool:
    return all(was_done == "execute" for was_done in done)


def _count(times: dict[str, int], provider: str) -> None:
    times[provider] = times.get(provider, 0) + 1


def outcome_of(call: BatchCall, *, batch_was_dropped: bool, guard_is_known: bool) -> Outcome:
    """What happened to the call: from its answer; without one, from whether the guard in force dropped its batch."""
    result = call.call.result
    if result is None:
        if batch_was_dropped or call.same_response:
            return "dropped"
        return "unanswered" if guard_is_known else "unknown"
    if result.answer == "tool":
        return "failed" if result.status == "error" else "executed"
    match result.answer:
        case "duplicate":
            return "suppressed"
        case "loop-skip" | "skipped":
            return "skipped"
        case "cancelled":
            return "cancelled"
        case "interrupted":
            return "unanswered"


def done_with(call: BatchCall, outcome: Outcome) -> Done:
    """What was done with the call, in a guard's terms. One skipped for another reason than a loop had passed the guard."""
    result = call.call.result
    if outcome == "skipped" and result is not None and result.answer == "skipped":
        return "execute"
    return _DONE[outcome]


def batch_was_dropped(in_force: TurnReplay | None, batch: Batch) -> bool:
    """No call of the turn's last batch was answered and the guard in force trips on it.

    This is how a trip stands in the log of headless, the TUI and the old daemon (QWEN_CODE.md 4): the bytes are those of a
    kill during a tool call, only the replay tells them apart.
    """
    if in_force is None or in_force.trip is not None or not batch.is_last:
        return False
    unanswered = all(call.call.result is None for call in batch.calls)
    return unanswered and "trip" in in_force.decide(batch)
