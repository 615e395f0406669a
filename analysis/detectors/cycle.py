"""A few calls in turn, over and over: the last ones are never equal, so rules that compare neighbours do not see it."""

from __future__ import annotations

from analysis.call_keys import Comparison
from analysis.detectors.base import EQUAL_ANSWERS, Detector, Hit, TurnView, first_hit, lines, tools
from analysis.detectors.repeated_batch import batch_key
from analysis.detectors.sequences import longest_cycle
from analysis.thresholds import Thresholds


def _find(view: TurnView, thresholds: Thresholds) -> Hit | None:
    if view.step_count < 2 * thresholds.cycle_rounds or view.most_alike < thresholds.cycle_rounds:
        return None

    def look(comparison: Comparison) -> Hit | None:
        keys = [batch_key(step, comparison) for step in view.steps]
        cycle = longest_cycle(keys, thresholds.cycle_period, thresholds.cycle_rounds)
        if cycle is None:
            return None
        steps = view.steps[cycle.start : cycle.start + cycle.length]
        calls = [call for step in steps for call in step.calls]
        if len(calls) < thresholds.cycle_calls:
            return None
        first_round = [call for step in steps[: cycle.period] for call in step.calls]
        alike = comparison.in_words([call for call in calls if comparison.key(call) == comparison.key(calls[0])])
        reason = (
            f"a cycle of {cycle.period} responses ({tools(first_round)}) came round {cycle.length // cycle.period}x, each call "
            f"{alike}"
        )
        return Hit(reason, comparison.confidence, lines(calls), wasted=tuple(calls[len(first_round) :]))

    return first_hit(view.comparisons, look)


DETECTOR = Detector(
    id="cycle",
    severity=2,
    fires_when=(
        "a cycle of 2 to {cycle_period} responses comes round {cycle_rounds} times, with {cycle_calls} calls or more in all, "
        "each answered alike every time"
    ),
    why="The model goes in a circle: each step leads to the next, and none changes anything.",
    what_to_try="interrupt and name the circle; say what you expect instead of the next step",
    signs=frozenset((EQUAL_ANSWERS,)),
    find=_find,
    is_loop=True,
)
