"""Turns that ended in a provider's error or were cut off: no loop and no hang, but nobody got an answer."""

from __future__ import annotations

from analysis.detectors.base import Detector, Hit, TurnView
from analysis.thresholds import Thresholds


def _provider_error(view: TurnView, thresholds: Thresholds) -> Hit | None:
    return Hit(view.verdict.reason, view.verdict.confidence, view.verdict.evidence)


def _cut_off(view: TurnView, thresholds: Thresholds) -> Hit | None:
    if not view.state.is_last:
        return None
    return Hit(view.verdict.reason, view.verdict.confidence, view.verdict.evidence)


PROVIDER_ERROR = Detector(
    id="provider-error",
    severity=5,
    fires_when="the turn's verdict is provider-error",
    why="The request failed and the client gave up.",
    what_to_try="read the error; if it is a limit or an outage, send the prompt again",
    signs=frozenset(("provider-error",)),
    find=_provider_error,
)

CUT_OFF = Detector(
    id="cut-off",
    severity=6,
    fires_when="the session's last turn is truncated; an earlier one was taken up again",
    why="The client was killed, crashed or lost its log in mid-turn.",
    what_to_try="resume the session; a tool that was running may or may not have finished",
    signs=frozenset(("truncated",)),
    find=_cut_off,
)
