"""Turns that ended in a provider's error or were cut off: no loop and no hang, but nobody got an answer."""

from __future__ import annotations

from analysis.detectors.base import Detector, Hit
from analysis.turn_state import TurnState
from analysis.verdicts import Verdict


def _provider_error(state: TurnState, verdict: Verdict) -> Hit | None:
    if verdict.verdict != "provider-error":
        return None
    return Hit(verdict.reason, verdict.confidence, verdict.evidence)


def _cut_off(state: TurnState, verdict: Verdict) -> Hit | None:
    if verdict.verdict != "truncated" or not state.is_last:
        return None
    return Hit(verdict.reason, verdict.confidence, verdict.evidence)


PROVIDER_ERROR = Detector(
    id="provider-error",
    severity=5,
    fires_when="the turn's verdict is provider-error",
    why="The request failed and the client gave up.",
    what_to_try="read the error; if it is a limit or an outage, send the prompt again",
    find=_provider_error,
)

CUT_OFF = Detector(
    id="cut-off",
    severity=6,
    fires_when="the session's last turn is truncated; an earlier one was taken up again",
    why="The client was killed, crashed or lost its log in mid-turn.",
    what_to_try="resume the session; a tool that was running may or may not have finished",
    find=_cut_off,
)
