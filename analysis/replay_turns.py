"""Guards over a session's turns, in one walk: each call classed, and what became of it held against what a guard decides."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from analysis.classify import classify
from analysis.guards import Answered, Contender
from analysis.guards.contender import Clears, clears_answered
from analysis.history import Batch, Walk
from analysis.new_ids import batches_of_new_ids
from analysis.replay import Done, TurnReplay, batch_was_dropped, done_with, outcome_of
from analysis.turn_state import JudgedCall, TurnState
from ingest.records import SessionFacts


def replay_turns(facts: SessionFacts, states: Sequence[TurnState], contenders: Sequence[Contender]) -> None:
    """Fill in each turn's calls and replays. The guard in force must be among the contenders where its trips are to be seen.

    Raises GuardFailed where a guard is not ours.
    """
    walk = Walk(facts.session_id, facts.client)
    batches = batches_of_new_ids(walk, states) if all(one.can_skip_new_calls for one in contenders) else None
    if batches is None:
        _replay_walking(walk, states, contenders)
    else:
        _replay_new_ids(states, batches, contenders)


def _replay_new_ids(states: Sequence[TurnState], batches: Sequence[Sequence[Batch]], contenders: Sequence[Contender]) -> None:
    """Only a guard that compares the calls of a turn may do something here, and only where one of them can equal another."""
    comparing = [contender for contender in contenders if not contender.can_skip_new_ids]
    for state, of_turn in zip(states, batches, strict=True):
        guard_is_known = state.guard_in_force != "unknown"
        judged: list[JudgedCall] = []
        for batch in of_turn:
            judged += _judged(batch, batch_was_dropped=False, guard_is_known=guard_is_known)
        state.take_calls(judged)
        if state.turn.repeated:
            for contender in comparing:
                state.replays[contender.name] = replay = TurnReplay(contender=contender, answered=Answered({}, {}))
                done = iter(_done_with(judged))
                for batch in of_turn:
                    replay.see(batch, list(islice(done, len(batch.calls))))


def _replay_walking(walk: Walk, states: Sequence[TurnState], contenders: Sequence[Contender]) -> None:
    really_answered: dict[Clears, dict[str, int]] = {contender.world.clears: {} for contender in contenders}
    for state in states:
        origin = state.turn.prompt.origin if state.turn.prompt else "user"
        for clears in really_answered:
            if clears_answered(clears, state.entry_point, origin):
                really_answered[clears] = {}
        state.replays = {
            one.name: TurnReplay(contender=one, answered=Answered(dict(really_answered[one.world.clears]), {}))
            for one in contenders
        }
        judged: list[JudgedCall] = []
        for batch in walk.batches(state.turn, state.entry_point):
            calls = _judge_batch(state, batch)
            judged.extend(calls)
            for call in calls:
                provider = call.of_batch.provider_id
                if call.outcome == "suppressed" and provider is not None:
                    for times in really_answered.values():
                        times[provider] = times.get(provider, 0) + 1
        state.take_calls(judged)


def _judge_batch(state: TurnState, batch: Batch) -> list[JudgedCall]:
    was_dropped = batch_was_dropped(state.in_force, batch)
    calls = _judged(batch, batch_was_dropped=was_dropped, guard_is_known=state.guard_in_force != "unknown")
    done = _done_with(calls)
    for replay in state.replays.values():
        replay.see(batch, done)
    return calls


def _judged(batch: Batch, *, batch_was_dropped: bool, guard_is_known: bool) -> list[JudgedCall]:
    calls: list[JudgedCall] = []
    for call in batch.calls:
        if batch.all_new:
            call_class, reason = "no-id" if call.provider_id is None else "first-use", None
        else:
            call_class, reason = classify(call, batch.handled)
        outcome = outcome_of(call, batch_was_dropped=batch_was_dropped, guard_is_known=guard_is_known)
        calls.append(JudgedCall(batch, call, call_class, reason, outcome))
    return calls


def _done_with(calls: Sequence[JudgedCall]) -> list[Done]:
    return [done_with(call.of_batch, call.outcome) for call in calls]
