"""A tool refused for its parameters, and called again with parameters that are refused again."""

from __future__ import annotations

from analysis.detectors.base import Detector, Hit, Step, TurnView, lines
from analysis.detectors.errors import INVALID_PARAMETERS, error_class
from analysis.detectors.sequences import longest_run
from analysis.fingerprint import canonical_name
from analysis.thresholds import Thresholds


def _find(view: TurnView, thresholds: Thresholds) -> Hit | None:
    if view.step_count < thresholds.invalid_parameters or view.failures < thresholds.invalid_parameters:
        return None
    run = longest_run([_refused_tool(step) for step in view.steps])
    if run.length < thresholds.invalid_parameters:
        return None
    steps = view.steps[run.start : run.start + run.length]
    calls = [call for step in steps for call in step.calls]
    line = next((call.of_batch.call.result.error_line for call in calls if call.of_batch.call.result), None)
    reason = f"{_refused_tool(steps[0])} refused for its parameters in {run.length} responses in a row" + (
        f": {line}" if line else ""
    )
    return Hit(reason, "certain", lines(calls), wasted=tuple(calls[len(steps[0].calls) :]))


def _refused_tool(step: Step) -> str | None:
    """The one tool that all calls of the response name, if each was refused for its parameters."""
    refused = {canonical_name(call.of_batch.call.call.tool) for call in step.calls if error_class(call) == INVALID_PARAMETERS}
    return refused.pop() if len(refused) == 1 and all(error_class(call) == INVALID_PARAMETERS for call in step.calls) else None


DETECTOR = Detector(
    id="invalid-parameters",
    severity=2,
    fires_when="in {invalid_parameters} responses in a row a call of one tool is refused for its parameters",
    why="The model cannot form the call: each try is refused before the tool runs, and the error does not help it.",
    what_to_try="read the refusal; show the model one right call, or use another model or tool schema",
    signs=frozenset(("failed",)),
    find=_find,
    is_loop=True,
)
