"""The trips of every guard, and what else speaks for those of the guard in force.

Trips come from the replay. The one exception is a sub-agent's: the response that tripped its breaker is written to no log
(0.21.10 and 0.24.4), so there the file beside the log, or telemetry, is the only witness. Telemetry is held against the
replay, not the other way round: `loop_detected` comes from the daemon of 0.24 alone, and from its heuristics too.
"""

from __future__ import annotations

from collections.abc import Iterator

from analysis.explicit_ends import is_agent_trip, told_user
from analysis.findings import TripRow
from analysis.turn_state import TurnState

BREAKER_EVENT = "global_tool_call_duplicate"


def trip_rows(session_id: str, state: TurnState) -> Iterator[TripRow]:
    for name, replay in state.replays.items():
        if replay.trip is None:
            continue
        is_real = name == state.guard_in_force and state.in_force_trip_call is not None
        fired = replay.trip.call
        judged = next(call for call in state.calls if call.of_batch is fired)
        # a trip of the guard in force that the log contradicts did not happen: never among the observed
        contradicted = name == state.guard_in_force and not is_real
        yield TripRow(
            guard=name,
            session_id=session_id,
            turn_no=state.turn.no,
            response_no=replay.trip.response_no,
            provider_id=fired.provider_id,
            tool=fired.call.call.tool,
            model=fired.call.record.model,
            basis="observed" if replay.trip_is_observed and not contradicted else "counterfactual",
            recorded=is_real and _is_recorded(state),
            told_user=told_user(state) if is_real else None,
            telemetry="matched" if is_real and _telemetry_agrees(state) else "none",
            trip_class=judged.call_class,
        )
    if state.in_force_trip_call is None and (row := _unlogged_trip(session_id, state)) is not None:
        yield row


def _is_recorded(state: TurnState) -> bool:
    by_log = any(call.outcome == "skipped" for call in state.calls)
    by_debug_log = any(event.name == "debug.dropped_batch" and "round" not in event.attributes for event in state.events)
    return by_log or by_debug_log or _telemetry_agrees(state)


def _telemetry_agrees(state: TurnState) -> bool:
    for event in state.events:
        if event.name == "loop_detected" and event.loop_type == BREAKER_EVENT:
            return True
        if event.channel == "span" and event.name == "interaction" and event.error_class == "loop_detected":
            return True
        if event.name == "subagent_execution" and is_agent_trip(event):
            return True
    return False


def _unlogged_trip(session_id: str, state: TurnState) -> TripRow | None:
    if state.entry_point != "sub-agent" or not state.is_last or not any(is_agent_trip(event) for event in state.events):
        return None
    last = state.turn.responses[-1] if state.turn.responses else None
    return TripRow(
        guard=state.guard_in_force,
        session_id=session_id,
        turn_no=state.turn.no,
        response_no=last.no if last else 0,
        model=last.records[-1].model if last else None,
        basis="observed",
        recorded=True,
        told_user=told_user(state),
        telemetry="matched" if _telemetry_agrees(state) else "none",
    )
