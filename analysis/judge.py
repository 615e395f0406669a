"""From a session's records to its turns, each with every call classed, every guard replayed and every event in its place."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from analysis.args_trust import distrust
from analysis.client_facts import EntryPoints, guards_in_force
from analysis.guards import BUILT_IN
from analysis.notes import annotate
from analysis.replay_turns import replay_turns
from analysis.timeline import Turn, last_model
from analysis.turn_events import assign_events
from analysis.turn_state import TurnState
from ingest.records import SessionFacts


def judge(facts: SessionFacts, turns: Sequence[Turn]) -> tuple[list[TurnState], EntryPoints]:
    states, entry_points = states_of(facts, turns)
    replay_turns(facts, states, BUILT_IN)
    annotate(states)
    assign_events(states, facts.events, is_sub_agent=facts.kind == "sub-agent")
    return states, entry_points


def states_of(facts: SessionFacts, turns: Sequence[Turn]) -> tuple[list[TurnState], EntryPoints]:
    """The turns before any guard is replayed."""
    entry_points = EntryPoints(facts.kind, turns, facts.events)
    guards = guards_in_force(facts.client, turns)
    other_models = _other_models([last_model(turn) for turn in turns])
    states = [
        TurnState(turn, entry_point, guard, is_last=turn is turns[-1], other_model=other)
        for turn, (entry_point, _), guard, other in zip(turns, entry_points.of_turns, guards, other_models, strict=True)
    ]
    for before, after in pairwise(states):
        before.following = after
    distrust([call for turn in turns for call in turn.calls])
    for turn in turns:
        turn.note_repeats()
    return states, entry_points


def _other_models(models: Sequence[str | None]) -> list[str | None]:
    """For each turn's model the last one before it that is another."""
    others: list[str | None] = []
    last: str | None = None
    other: str | None = None
    for model in models:
        others.append(last if last != model else other)
        if model is not None and model != last:
            last, other = model, last
    return others
