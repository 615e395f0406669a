"""A guard that is tried and not kept: one session replayed with it, as rows like those of the guards in the store."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from analysis.findings import DecisionRow, DivergenceRow, TripRow
from analysis.guard_rows import decision_rows, divergence_rows
from analysis.guards import BUILT_IN, Contender
from analysis.guards.base import GuardFailed
from analysis.guards.isolated import IsolatedGuard
from analysis.judge import states_of
from analysis.replay_turns import replay_turns
from analysis.timeline import build_turns, live_branch
from analysis.trips import trip_rows
from analysis.turn_state import TurnState
from ingest.records import SessionFacts


class Trial(Struct):
    guard: str
    session_id: str
    decisions: list[DecisionRow]
    divergences: list[DivergenceRow]
    trips: list[TripRow]
    failure: str | None = None
    """Why the guard has no decisions in this session: they are all `unknown` then."""


def try_guard(facts: SessionFacts, contender: Contender) -> Trial:
    """Nothing that the guard does is raised."""
    trial = Trial(contender.name, facts.session_id, [], [], [])
    try:
        states = replayed(facts, contender)
    except GuardFailed as e:
        trial.failure = str(e)
        trial.decisions = [*_nothing_known(facts, contender.name)]
        return trial
    for state in own(states):
        if (replay := state.replays.get(contender.name)) is not None:
            trial.decisions.extend(decision_rows(facts.session_id, state, replay))
            trial.divergences.extend(divergence_rows(facts.session_id, state, replay))
        trial.trips.extend(row for row in trip_rows(facts.session_id, state) if row.guard == contender.name)
    return trial


def replayed(facts: SessionFacts, *contenders: Contender) -> list[TurnState]:
    """The session's turns with these guards and those that were in force. Raises GuardFailed."""
    live, _ = live_branch(facts.records)
    states, _ = states_of(facts, build_turns(live))
    names = {contender.name for contender in contenders}
    for contender in contenders:
        if isinstance(contender.guard, IsolatedGuard):
            contender.guard.begin(facts)
    in_force = {state.guard_in_force for state in states} - names
    replay_turns(facts, states, [*(guard for guard in BUILT_IN if guard.name in in_force), *contenders])
    return states


def own(states: Sequence[TurnState]) -> list[TurnState]:
    """Without what a fork copied: that happened in the other session."""
    return [state for state in states if not state.turn.inherited]


def _nothing_known(facts: SessionFacts, guard: str) -> list[DecisionRow]:
    return [
        DecisionRow(
            guard=guard,
            session_id=facts.session_id,
            turn_no=state.turn.no,
            response_no=call.batch.response.no,
            call_no=call.of_batch.call.no,
            decision="unknown",
        )
        for state in own(replayed(facts))
        for call in state.calls
    ]
