"""What the client's telemetry says of loops, and what explains it: a trip of the guard, a rule of its own, or nothing known."""

from __future__ import annotations

from collections.abc import Sequence

from analysis.detectors.client_heuristics import ClientHeuristics
from analysis.findings import LoopEventRow
from analysis.rows import model_of
from analysis.trips import BREAKER_EVENT
from analysis.turn_state import TurnState
from ingest.records import Event, SessionFacts


def loop_event_rows(facts: SessionFacts, states: Sequence[TurnState]) -> list[LoopEventRow]:
    told = [event for event in facts.events if event.name == "loop_detected"]
    if not told:
        return []
    turn_of: dict[int, _Turn] = {}
    for state in states:
        turn_of.update(dict.fromkeys(map(id, state.events), _Turn(state)))
    return [_row(facts.session_id, event, turn_of.get(id(event))) for event in told]


class _Turn:
    def __init__(self, state: TurnState) -> None:
        self.no = state.turn.no
        self.model = model_of(state)
        self.has_tripped = state.in_force_trip_call is not None
        self.heuristics = ClientHeuristics(state.calls)


def _row(session_id: str, event: Event, turn: _Turn | None) -> LoopEventRow:
    loop_type = event.loop_type or "unknown"
    explained_by = "unmatched"
    if turn is not None and turn.has_tripped and loop_type == BREAKER_EVENT:
        explained_by = "guard-trip"
    elif turn is not None and turn.heuristics.explain(event):
        explained_by = "detector"
    return LoopEventRow(
        session_id=session_id,
        prompt_id=event.prompt_id,
        turn_no=turn.no if turn is not None else None,
        loop_type=loop_type,
        ts=event.ts,
        model=(turn.model if turn is not None else None) or event.model,
        explained_by=explained_by,
    )
