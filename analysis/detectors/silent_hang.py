"""A turn that ended without a word to the user."""

from __future__ import annotations

from analysis.detectors.base import Detector, Hit
from analysis.turn_state import TurnState
from analysis.verdicts import Verdict


def _find(state: TurnState, verdict: Verdict) -> Hit | None:
    if verdict.verdict != "silent-hang":
        return None
    return Hit(verdict.reason, verdict.confidence, verdict.evidence)


DETECTOR = Detector(
    id="silent-hang",
    severity=1,
    fires_when="the turn's verdict is silent-hang",
    why="The person waits for an answer that will never come.",
    what_to_try="send a new prompt to the session; if the guard tripped, upgrade the client to 0.23 or later",
    find=_find,
)
