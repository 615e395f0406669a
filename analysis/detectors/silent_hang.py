"""A turn that ended without a word to the user."""

from __future__ import annotations

from analysis.detectors.base import Detector, Hit
from analysis.turn_state import TurnState
from analysis.verdicts import Verdict

_WITHOUT_A_TRIP = "send the prompt again; if the answer stays empty, look at the model's gateway"


def _find(state: TurnState, verdict: Verdict) -> Hit | None:
    if verdict.verdict != "silent-hang":
        return None
    tripped = state.in_force_trip_call is not None
    return Hit(verdict.reason, verdict.confidence, verdict.evidence, what_to_try=None if tripped else _WITHOUT_A_TRIP)


DETECTOR = Detector(
    id="silent-hang",
    severity=1,
    fires_when="the turn's verdict is silent-hang",
    why="The person waits for an answer that will never come.",
    what_to_try="send a new prompt: the session is alive; upgrade the client to 0.23 or later, which says so when it stops",
    find=_find,
)
