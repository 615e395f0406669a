"""The same calls side by side in one response, again and again: no single call follows itself, so only the batch shows it."""

from __future__ import annotations

from analysis.call_keys import Comparison
from analysis.detectors.base import EQUAL_ANSWERS, Detector, Hit, Step, TurnView, first_hit, lines, tools
from analysis.detectors.sequences import longest_run
from analysis.thresholds import Thresholds


def batch_key(step: Step, comparison: Comparison) -> tuple[object, ...] | None:
    """In no order: calls of one response run side by side. None where one of them has no key."""
    keys = [comparison.key(call) for call in step.calls]
    return None if None in keys else tuple(sorted(keys, key=repr))


def _find(view: TurnView, thresholds: Thresholds) -> Hit | None:
    if view.step_count < thresholds.batch_rounds or view.most_alike < thresholds.batch_rounds:
        return None

    def look(comparison: Comparison) -> Hit | None:
        run = longest_run([batch_key(step, comparison) if len(step.calls) > 1 else None for step in view.steps])
        if run.length < thresholds.batch_rounds:
            return None
        steps = view.steps[run.start : run.start + run.length]
        calls = [call for step in steps for call in step.calls]
        same = [step.calls[0] for step in steps]
        alike = comparison.in_words([call for call in calls if comparison.key(call) == comparison.key(same[0])])
        reason = f"a batch of {len(steps[0].calls)} calls ({tools(steps[0].calls)}) {run.length}x in a row {alike}"
        return Hit(reason, comparison.confidence, lines(same), wasted=tuple(calls[len(steps[0].calls) :]))

    return first_hit(view.comparisons, look)


DETECTOR = Detector(
    id="repeated-batch",
    severity=2,
    fires_when="{batch_rounds} responses in a row hold one and the same batch of several calls and it is answered alike",
    why="Nothing changes from one response to the next: the model makes no progress.",
    what_to_try="interrupt and say what the results mean; check whether the model sees the tools' results at all",
    signs=frozenset((EQUAL_ANSWERS,)),
    find=_find,
    is_loop=True,
)
