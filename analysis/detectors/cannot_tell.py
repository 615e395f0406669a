"""What looks like a loop, but on evidence that cannot carry it: never called one, and never passed over in silence.

Arguments that were cut or redacted make different calls equal (ZaxbyHub/opencode-swarm#2060: eight reads of a file, page by
page, cut before the offset). A compaction that failed can empty responses that were not empty.
"""

from __future__ import annotations

import msgspec

from analysis.detectors.base import ARGUMENTS_NOT_WHOLE, EMPTY_REPLIES, Detector, Hit, TurnView, lines, tools
from analysis.detectors.empty_replies import compaction_failed, first_and_last, longest_empty
from analysis.detectors.sequences import longest_run
from analysis.fingerprint import canonical_name
from analysis.thresholds import Thresholds
from analysis.turn_state import JudgedCall


def _find(view: TurnView, thresholds: Thresholds) -> Hit | None:
    return _unreliable_arguments(view, thresholds) or _emptied_replies(view, thresholds)


def _unreliable_arguments(view: TurnView, thresholds: Thresholds) -> Hit | None:
    if view.step_count < thresholds.identical_in_a_row or None not in view.state.turn.repeated:
        return None
    run = longest_run([_visible(step.calls[0]) if len(step.calls) == 1 else None for step in view.steps])
    if run.length < thresholds.identical_in_a_row:
        return None
    calls = [step.calls[0] for step in view.steps[run.start : run.start + run.length]]
    state = calls[0].of_batch.call.args_state
    reason = (
        f"{run.length} calls of {tools(calls)} in a row look alike, but their fingerprint is unreliable: "
        f"arguments {state}{_where(calls[0])}"
    )
    return Hit(reason, "unknown", lines(calls))


def _visible(call: JudgedCall) -> tuple[str, str] | None:
    told = call.of_batch.call
    is_whole = told.args_state == "whole"
    return None if is_whole or told.args_state == "absent" else (canonical_name(told.call.tool), told.call.args_json)


def _where(call: JudgedCall) -> str:
    """Arguments that the log holds as text end where they were cut."""
    told = call.of_batch.call
    try:
        text = msgspec.json.decode(told.call.args_json, type=str) if told.args_state == "cut" else None
    except (msgspec.MsgspecError, UnicodeError):
        return ""
    return f" at {len(text)} characters" if text is not None else ""


def _emptied_replies(view: TurnView, thresholds: Thresholds) -> Hit | None:
    if view.empty_replies < thresholds.empty_replies:
        return None
    empty = longest_empty([view])
    if len(empty) < thresholds.empty_replies or not compaction_failed(view.state):
        return None
    reason = f"{len(empty)} replies in a row hold nothing, but a compaction failed in this turn and may have emptied them"
    return Hit(reason, "unknown", first_and_last(empty))


DETECTOR = Detector(
    id="cannot-tell-loop",
    severity=6,
    fires_when=(
        "{identical_in_a_row} calls in a row look alike where their arguments were cut or redacted, or {empty_replies} replies "
        "are empty where a compaction failed"
    ),
    why="It may be a loop and may be honest work: this log does not hold enough to tell.",
    what_to_try="look at the original log, or at the telemetry of that time",
    signs=frozenset((ARGUMENTS_NOT_WHOLE, EMPTY_REPLIES)),
    find=_find,
)
