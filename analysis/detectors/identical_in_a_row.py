"""The same call with the same answer, response after response, under whatever ids."""

from __future__ import annotations

from analysis.call_keys import Comparison
from analysis.detectors.base import EQUAL_ANSWERS, Detector, Hit, TurnView, first_hit, lines, tools
from analysis.detectors.sequences import longest_run
from analysis.thresholds import Thresholds


def _find(view: TurnView, thresholds: Thresholds) -> Hit | None:
    if view.step_count < thresholds.identical_in_a_row or view.most_alike < thresholds.identical_in_a_row:
        return None

    def look(comparison: Comparison) -> Hit | None:
        keys = [comparison.key(step.calls[0]) if len(step.calls) == 1 else None for step in view.steps]
        run = longest_run(keys)
        if run.length < thresholds.identical_in_a_row:
            return None
        calls = [step.calls[0] for step in view.steps[run.start : run.start + run.length]]
        reason = f"{tools(calls)} {run.length}x in a row {comparison.in_words(calls)}"
        return Hit(reason, comparison.confidence, lines(calls), wasted=tuple(calls[1:]))

    return first_hit(view.comparisons, look)


DETECTOR = Detector(
    id="identical-in-a-row",
    severity=2,
    fires_when="{identical_in_a_row} responses in a row hold one and the same call and it is answered alike",
    why="Nothing changes from one response to the next: the model makes no progress.",
    what_to_try="interrupt and say what the result means; check whether the model sees the tool's results at all",
    signs=frozenset((EQUAL_ANSWERS,)),
    find=_find,
    is_loop=True,
)
