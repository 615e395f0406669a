"""`analyse`: all findings of one session from all its facts. Pure: no file, no clock, no database.

A session is always analysed whole, because a rewind or a late record changes old turns. What a fork copied is replayed, since
handled ids carry over, but makes no finding, no decision and no trip: it happened in the other session.
"""

from __future__ import annotations

from analysis.cards import add_cards
from analysis.detect import detect
from analysis.detectors import TurnView
from analysis.ending import Ending, ending_of
from analysis.findings import SessionFindings
from analysis.guard_rows import decision_rows, divergence_rows
from analysis.guards import GUARDS
from analysis.high_risk_repeats import high_risk_repeats
from analysis.judge import judge
from analysis.liveness import DEFAULT_LIVENESS, UNLEARNT, Liveness, NotYetLearnt
from analysis.loop_events import loop_event_rows
from analysis.rows import (
    call_row,
    dead_call_rows,
    odd_copy_rows,
    orphan_rows,
    response_row,
    session_row,
    turn_row,
)
from analysis.session_evidence import add_session_evidence
from analysis.thresholds import DEFAULT_THRESHOLDS, Thresholds
from analysis.timeline import build_turns, live_branch
from analysis.trips import trip_rows
from ingest.records import Event, SessionFacts

ANALYSIS_VERSION = 7
"""Raise it whenever the same facts would give other findings: the store then makes all of them anew."""

__all__ = ["ANALYSIS_VERSION", "GUARDS", "analyse", "analyse_early"]


def analyse_early(facts: SessionFacts, thresholds: Thresholds = DEFAULT_THRESHOLDS) -> SessionFindings | None:
    """What `analyse` finds with the limits of any corpus; None where that depends on what the corpus says.

    A session's findings depend on a tool's limit where a call was left open: in its last turn, or in one that a person waited
    for. All others are judged for good as soon as their facts are known.
    """
    try:
        return analyse(facts, thresholds, UNLEARNT)
    except NotYetLearnt:
        return None


def analyse(
    facts: SessionFacts, thresholds: Thresholds = DEFAULT_THRESHOLDS, liveness: Liveness = DEFAULT_LIVENESS
) -> SessionFindings:
    live, dead = live_branch(facts.records)
    turns = build_turns(live)
    found = SessionFindings(
        dead_calls=list(dead_call_rows(facts.session_id, dead)),
        odd_copies=list(odd_copy_rows(facts)),
    )
    states, entry_points = judge(facts, turns)
    endings = [ending_of(state, liveness) for state in states]
    views = [TurnView(state, ending.verdict) for state, ending in zip(states, endings, strict=True)]
    for view, ending in zip(views, endings, strict=True):
        _add_turn(found, facts.session_id, view, ending)
    own = [view for view in views if not view.state.turn.inherited]
    found.findings, looping = detect(facts.session_id, own, thresholds)
    for turn in found.turns:
        turn.looping = looping.get(turn.turn_no)
    if facts.kind == "main":
        found.loop_events = loop_event_rows(facts, states)
    if states:
        found.session = session_row(facts, live, states, entry_points)
    add_cards(found, facts)
    if found.session is not None:
        events = [*facts.events, *[record for record in live if isinstance(record, Event)]]
        add_session_evidence(found.session, events, found)
    found.findings.extend(high_risk_repeats(facts, found.calls))
    return found


def _add_turn(found: SessionFindings, session_id: str, view: TurnView, ending: Ending) -> None:
    state = view.state
    turn = turn_row(session_id, state, ending)
    found.turns.append(turn)
    found.responses.extend([response_row(session_id, turn, response) for response in state.turn.responses])
    found.calls.extend([call_row(session_id, turn, call) for call in state.calls])
    if turn.inherited:
        return
    found.orphans.extend(orphan_rows(session_id, state))
    for replay in state.replays.values():
        found.decisions.extend(decision_rows(session_id, state, replay))
        found.divergences.extend(divergence_rows(session_id, state, replay))
    if state.replays or state.events:
        found.trips.extend(trip_rows(session_id, state))
