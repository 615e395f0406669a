"""What a guard decided in a turn, as rows. `execute` has none."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.findings import DecisionRow, DivergenceRow
from analysis.replay import TurnReplay
from analysis.turn_state import TurnState


def decision_rows(session_id: str, state: TurnState, replay: TurnReplay) -> Iterator[DecisionRow]:
    for response, call, decision in replay.exceptions:
        yield DecisionRow(
            guard=replay.contender.name,
            session_id=session_id,
            turn_no=state.turn.no,
            response_no=response,
            call_no=call,
            decision=decision,
        )


def divergence_rows(session_id: str, state: TurnState, replay: TurnReplay) -> Iterator[DivergenceRow]:
    if replay.divergence is not None:
        response, call = replay.divergence
        yield DivergenceRow(
            guard=replay.contender.name, session_id=session_id, turn_no=state.turn.no, response_no=response, call_no=call
        )
