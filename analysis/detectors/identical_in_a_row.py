"""The same call with the same result, response after response, under whatever ids."""

from __future__ import annotations

from analysis.detectors.base import Detector, Hit
from analysis.turn_state import JudgedCall, TurnState
from analysis.verdicts import Verdict

IN_A_ROW = 5
"""The client's own threshold in headless mode (0.21.10, 0.24.4); here the results must be equal too: polling is no loop."""


def longest_run(calls: list[JudgedCall]) -> list[JudgedCall]:
    """The longest run of responses that hold only this one call, each answered alike."""
    best: list[JudgedCall] = []
    run: list[JudgedCall] = []
    for call in calls:
        alone = len(call.batch.calls) == 1
        if run and alone and _key(call) is not None and _key(call) == _key(run[-1]):
            run.append(call)
        else:
            run = [call] if alone else []
        best = max(best, run, key=len)
    return best


def _key(call: JudgedCall) -> tuple[bytes, bytes] | None:
    result = call.of_batch.call.result
    fingerprint = call.of_batch.fingerprint
    if result is None or result.digest is None or fingerprint is None or result.answer != "tool":
        return None
    return fingerprint, result.digest


def _find(state: TurnState, verdict: Verdict) -> Hit | None:
    run = longest_run(state.calls)
    if len(run) < IN_A_ROW:
        return None
    tool = run[0].of_batch.call.call.tool
    reason = f"{tool} with the same arguments and the same result {len(run)}x in a row"
    return Hit(reason, "certain", (run[0].evidence, run[-1].evidence))


DETECTOR = Detector(
    id="identical-in-a-row",
    severity=2,
    fires_when=f"{IN_A_ROW} responses in a row hold one and the same call and it is answered alike",
    why="Nothing changes from one response to the next: the model makes no progress.",
    what_to_try="interrupt and say what the result means; check whether the model sees the tool's results at all",
    find=_find,
    is_loop=True,
)
