"""Varied calls that all fail for one reason: no two are equal, so only the class of the error shows that none can succeed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from analysis.detectors.base import Detector, Hit, Step, TurnView, lines, tools
from analysis.detectors.errors import classes_of_failure
from analysis.detectors.sequences import longest_dense, longest_run
from analysis.thresholds import Thresholds


def _find(view: TurnView, thresholds: Thresholds) -> Hit | None:
    fewest = min(thresholds.dead_end_in_a_row, int(thresholds.dead_end_responses * thresholds.dead_end_share))
    if view.step_count < fewest or view.failures < fewest:
        return None
    classes = [classes_of_failure(step) for step in view.steps]
    return _of_one_class(view.steps, classes, thresholds) or _in_a_row(view.steps, classes, thresholds)


def _of_one_class(steps: Sequence[Step], classes: Sequence[tuple[str, ...]], thresholds: Thresholds) -> Hit | None:
    counts = Counter(name for names in classes for name in names)
    for name, _ in counts.most_common():
        marks = [name in names for names in classes]
        stretch = longest_dense(marks, thresholds.dead_end_share, thresholds.dead_end_responses)
        if stretch is not None:
            within = range(stretch.start, stretch.start + stretch.length)
            failing = [steps[index] for index in within if marks[index]]
            return _hit(failing, f"{len(failing)} of {stretch.length} responses failed in one way ({name})")
    return None


def _in_a_row(steps: Sequence[Step], classes: Sequence[tuple[str, ...]], thresholds: Thresholds) -> Hit | None:
    run = longest_run([True if names else None for names in classes])
    if run.length < thresholds.dead_end_in_a_row:
        return None
    within = slice(run.start, run.start + run.length)
    names = Counter(name for names in classes[within] for name in names)
    said = ", ".join(f"{name} {count}x" for name, count in names.most_common(3))
    return _hit(steps[within], f"{run.length} responses in a row failed ({said})")


def _hit(failing: Sequence[Step], reason: str) -> Hit:
    calls = [call for step in failing for call in step.calls]
    return Hit(f"{reason}: {tools(calls)}", "certain", lines(calls), wasted=tuple(calls[len(failing[0].calls) :]))


DETECTOR = Detector(
    id="dead-end",
    severity=2,
    fires_when=(
        "of {dead_end_responses} responses or more in a row, {dead_end_share:.0%} fail in one class of error, or "
        "{dead_end_in_a_row} in a row fail; a response fails when all its calls do"
    ),
    why="The model tries one thing after the other where none can work: a missing tool, a path, a permission.",
    what_to_try="read the error; give the model what is missing, or tell it that this way is closed",
    signs=frozenset(("failed",)),
    find=_find,
    is_loop=True,
)
