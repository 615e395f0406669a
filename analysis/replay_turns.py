"""Guards over a session's turns, in one walk: each call classed, and what became of it held against what a guard decides."""

from __future__ import annotations

from collections.abc import Sequence

from analysis.classify import classify
from analysis.guards import Answered, Contender
from analysis.guards.contender import Clears, clears_answered
from analysis.history import Batch, Walk
from analysis.replay import TurnReplay, batch_was_dropped, done_with, outcome_of
from analysis.turn_state import JudgedCall, TurnState
from ingest.records import SessionFacts


def replay_turns(facts: SessionFacts, states: Sequence[TurnState], contenders: Sequence[Contender]) -> None:
    """Fill in each turn's calls and replays. The guard in force must be among the contenders where its trips are to be seen.

    Raises GuardFailed where a guard is not ours.
    """
    walk = Walk(facts.session_id, facts.client)
    really_answered: dict[Clears, dict[str, int]] = {contender.world.clears: {} for contender in contenders}
    for state in states:
        origin = state.turn.prompt.origin if state.turn.prompt else "user"
        for clears in really_answered:
            if clears_answered(clears, state.entry_point, origin):
                really_answered[clears] = {}
        state.replays = {
            contender.name: TurnReplay(contender, Answered(dict(really_answered[contender.world.clears]), {}))
            for contender in contenders
        }
        for batch in walk.batches(state.turn, state.entry_point):
            calls = _judge_batch(state, batch)
            state.calls.extend(calls)
            for call in calls:
                provider = call.of_batch.provider_id
                if call.outcome == "suppressed" and provider is not None:
                    for times in really_answered.values():
                        times[provider] = times.get(provider, 0) + 1


def _judge_batch(state: TurnState, batch: Batch) -> list[JudgedCall]:
    was_dropped = batch_was_dropped(state.in_force, batch)
    guard_is_known = state.guard_in_force != "unknown"
    calls = [
        JudgedCall(
            batch,
            call,
            *(("no-id" if call.provider_id is None else "first-use", None) if batch.all_new else classify(call, batch.handled)),
            outcome=outcome_of(call, batch_was_dropped=was_dropped, guard_is_known=guard_is_known),
        )
        for call in batch.calls
    ]
    done = [done_with(call.of_batch, call.outcome) for call in calls]
    for replay in state.replays.values():
        replay.see(batch, done)
    return calls
