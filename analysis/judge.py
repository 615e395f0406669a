"""From a session's records to its turns, each with every call classed, every guard replayed and every event in its place."""

from __future__ import annotations

from collections.abc import Sequence

from analysis.args_trust import distrust
from analysis.classify import classify
from analysis.client_facts import EntryPoints, guards_in_force
from analysis.guards import GUARDS, Answered
from analysis.history import Batch, Walk
from analysis.notes import annotate
from analysis.replay import TurnReplay, batch_was_dropped, clears_answered, done_with, outcome_of
from analysis.timeline import Turn
from analysis.turn_events import assign_events
from analysis.turn_state import JudgedCall, TurnState
from ingest.records import SessionFacts


def judge(facts: SessionFacts, turns: Sequence[Turn]) -> tuple[list[TurnState], EntryPoints]:
    entry_points = EntryPoints(facts.kind, turns, facts.events)
    guards = guards_in_force(facts.client, turns)
    states = [
        TurnState(turn, entry_point, guard, is_last=turn is turns[-1])
        for turn, (entry_point, _), guard in zip(turns, entry_points.of_turns, guards, strict=True)
    ]
    distrust([call for turn in turns for call in turn.calls])
    _replay(states)
    annotate(states)
    assign_events(states, facts.events, is_sub_agent=facts.kind == "sub-agent")
    return states, entry_points


def _replay(states: Sequence[TurnState]) -> None:
    walk = Walk()
    really_answered: set[str] = set()
    for state in states:
        if clears_answered(state.entry_point, state.turn.prompt.origin if state.turn.prompt else "user"):
            really_answered = set()
        state.replays = {guard.name: TurnReplay(guard, Answered(set(really_answered), set())) for guard in GUARDS}
        for batch in walk.batches(state.turn, state.entry_point):
            calls = _judge_batch(state, batch)
            state.calls.extend(calls)
            really_answered |= {
                call.of_batch.provider_id
                for call in calls
                if call.outcome == "suppressed" and call.of_batch.provider_id is not None
            }


def _judge_batch(state: TurnState, batch: Batch) -> list[JudgedCall]:
    was_dropped = batch_was_dropped(state.in_force, batch)
    guard_is_known = state.guard_in_force != "unknown"
    calls = [
        JudgedCall(
            batch,
            call,
            *classify(call, batch.handled),
            outcome=outcome_of(call, batch_was_dropped=was_dropped, guard_is_known=guard_is_known),
        )
        for call in batch.calls
    ]
    done = [done_with(call.of_batch, call.outcome) for call in calls]
    for replay in state.replays.values():
        replay.see(batch, done)
    return calls
