"""A turn that ended without a word to the user."""

from __future__ import annotations

from analysis.detectors.base import Detector, Hit, TurnView
from analysis.thresholds import Thresholds

_WITHOUT_A_TRIP = "send the prompt again; if the answer stays empty, look at the model's gateway"


def _find(view: TurnView, thresholds: Thresholds) -> Hit | None:
    tripped = view.state.in_force_trip_call is not None
    return Hit(
        view.verdict.reason, view.verdict.confidence, view.verdict.evidence, what_to_try=None if tripped else _WITHOUT_A_TRIP
    )


DETECTOR = Detector(
    id="silent-hang",
    severity=1,
    fires_when="the turn's verdict is silent-hang",
    why="The person waits for an answer that will never come.",
    what_to_try="prompt again: it lives, but the same ids may trip it again; from 0.23 on the client says when it stops",
    signs=frozenset(("silent-hang",)),
    find=_find,
)
