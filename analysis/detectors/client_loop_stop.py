"""The client's own loop detector stopped the turn, by its telemetry."""

from __future__ import annotations

from analysis.detectors.base import Detector, Hit
from analysis.turn_state import TurnState, evidence_of
from analysis.verdicts import Verdict


def _find(state: TurnState, verdict: Verdict) -> Hit | None:
    if state.in_force_trip_call is not None:
        return None
    event = next((event for event in state.events if event.name == "loop_detected"), None)
    if event is None:
        return None
    reason = f"the client's loop detector fired: {event.loop_type or 'unknown type'}"
    return Hit(reason, "certain", (evidence_of(event), *state.last_evidence))


DETECTOR = Detector(
    id="client-loop-stop",
    severity=2,
    fires_when="a loop_detected event names the turn and no trip of the guard in force explains it",
    why="The client took what the model did for a loop, by a rule of its own and not by the ids.",
    what_to_try="look at the calls before it; the client's rule may be right or may be firing on honest repetition",
    find=_find,
    is_loop=True,
)
