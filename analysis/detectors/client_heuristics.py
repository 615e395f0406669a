"""The client's own loop heuristics, re-run on the recorded calls to explain its `loop_detected` events (code, 0.24.4).

They look at calls alone and never at results, so they fire on honest work too; the thresholds are the client's and no settings.
All types that recorded calls can show are here; texts and thoughts are not kept, so chanting and thought loops stay unmatched.
The client asks at each call, before it runs: what counts is whether a rule fires on the last call before the event. The
response on which headless stops is in no log (recordings i, i2), so there a rule that lacks one call has fired on that one.

A rule goes over the calls once and says after each whether it fires, so that a turn with many events is no more work than one.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from itertools import accumulate, pairwise

import msgspec

from analysis.detectors.errors import INVALID_PARAMETERS, error_class
from analysis.turn_state import JudgedCall
from ingest.records import Event

CONSECUTIVE = 5
_SPREAD = 6
_STAGNATION = 8
_READS, _READS_WINDOW = 8, 15
_ALTERNATIONS = 6
_CAP, _HARD_CAP = 100, 1000
_INVALID_PARAMETERS = 3
_FAILURES = 9
"""At the eighth the client warns the model, at the next it stops."""

_READING = re.compile(r"(?:read_|list_).*|zoom_image")
_GIT_OVERVIEW = re.compile(r"git(?:\s+(?:-C\s+\S+|--no-pager))*\s+(?:status|diff|ls-files)\b", re.IGNORECASE)
_SHELL_OPERATORS = re.compile(r"&&|\|\||[;&|\n]")


class ClientHeuristics:
    """The rules over the calls of one turn."""

    def __init__(self, calls: Sequence[JudgedCall]) -> None:
        self._calls = calls
        times = [call.of_batch.call.record.ts for call in calls]
        self._times = [ts for ts in times if ts is not None]
        self._are_in_order = len(self._times) == len(calls) and all(a <= b for a, b in pairwise(self._times))
        self._fires: dict[str, list[bool]] = {}
        """Of each rule that was asked, after each call."""

    def explain(self, event: Event) -> bool:
        """Whether the rule that the event names fires on the last call that is not later than the event."""
        name = event.loop_type or ""
        if name not in _RULES:
            return False
        if event.ts is not None and not self._are_in_order:
            calls = [call for call in self._calls if not _is_later(call, event.ts)]
            return bool(calls) and _fires(name, calls)[-1]
        if name not in self._fires:
            self._fires[name] = _fires(name, self._calls)
        count = len(self._calls) if event.ts is None else bisect_right(self._times, event.ts)
        return count > 0 and self._fires[name][count - 1]


def _is_later(call: JudgedCall, ts: int) -> bool:
    called = call.of_batch.call.record.ts
    return called is not None and called > ts


def _fires(name: str, calls: Sequence[JudgedCall]) -> list[bool]:
    return _RULES[name](calls, _lost(calls))


def _lost(calls: Sequence[JudgedCall]) -> list[int]:
    """After each call: 1 where the response that the client stopped on may be missing, as all calls have their answer."""
    return list(accumulate((int(call.of_batch.call.result is not None) for call in calls), min))


def _at_least(wanted: int, counts: Sequence[int], lost: Sequence[int]) -> list[bool]:
    return [count + missing >= wanted for count, missing in zip(counts, lost, strict=True)]


def _streaks(keys: Sequence[Hashable | None]) -> list[int]:
    """After each key how many are equal to it in a row; none where it is None."""
    streaks: list[int] = []
    for index, key in enumerate(keys):
        goes_on = index > 0 and key == keys[index - 1]
        streaks.append(0 if key is None else streaks[-1] + 1 if goes_on else 1)
    return streaks


def _highest_counts(keys: Sequence[Hashable | None]) -> list[int]:
    """After each key how often the most frequent one came so far."""
    counts: Counter[Hashable] = Counter()
    highest: list[int] = []
    for key in keys:
        if key is not None:
            counts[key] += 1
        highest.append(max(highest[-1] if highest else 0, counts[key] if key is not None else 0))
    return highest


def _fingerprints(calls: Sequence[JudgedCall]) -> list[bytes | None]:
    return [call.of_batch.fingerprint for call in calls]


def _tools(calls: Sequence[JudgedCall]) -> list[str]:
    return [call.of_batch.call.call.tool for call in calls]


def _consecutive(calls: Sequence[JudgedCall], lost: Sequence[int]) -> list[bool]:
    return _at_least(CONSECUTIVE, _streaks(_fingerprints(calls)), lost)


def _spread(calls: Sequence[JudgedCall], lost: Sequence[int]) -> list[bool]:
    return _at_least(_SPREAD, _highest_counts(_fingerprints(calls)), lost)


def _alternating(calls: Sequence[JudgedCall], lost: Sequence[int]) -> list[bool]:
    """Two calls by turns: so many, up to each, that differ from the one before and equal the one before that."""
    keys = _fingerprints(calls)
    lengths: list[int] = []
    for index, key in enumerate(keys):
        differs = index > 0 and keys[index - 1] not in (None, key)
        comes_back = differs and index > 1 and keys[index - 2] == key
        lengths.append(0 if key is None else lengths[-1] + 1 if comes_back else 2 if differs else 1)
    return _at_least(_ALTERNATIONS, lengths, lost)


def _same_tool(calls: Sequence[JudgedCall], lost: Sequence[int]) -> list[bool]:
    return _at_least(_STAGNATION, _streaks(_tools(calls)), lost)


def _reads(calls: Sequence[JudgedCall], lost: Sequence[int]) -> list[bool]:
    reading = [_READING.fullmatch(tool) is not None for tool in _tools(calls)]
    before = [0, *accumulate(map(int, reading))]
    """How many of the first calls read."""
    fires: list[bool] = []
    for count, missing in enumerate(lost, 1):
        in_window = before[count] - before[max(0, count - (_READS_WINDOW - missing))]
        fires.append(before[count] < count and in_window + missing >= _READS)
    return fires


def _git_overview(calls: Sequence[JudgedCall], lost: Sequence[int]) -> list[bool]:
    return _at_least(_STAGNATION, _streaks([True if _is_git_overview(call) else None for call in calls]), lost)


def _is_git_overview(call: JudgedCall) -> bool:
    told = call.of_batch.call.call
    if told.tool != "run_shell_command":
        return False
    try:
        args = msgspec.json.decode(told.args_json)
    except (msgspec.DecodeError, UnicodeError):
        return False
    command = args.get("command") if isinstance(args, dict) else None
    commands = [part.strip() for part in _SHELL_OPERATORS.split(command)] if isinstance(command, str) else []
    return any(commands) and all(_GIT_OVERVIEW.match(part) for part in commands if part)


def _cap(calls: Sequence[JudgedCall], lost: Sequence[int]) -> list[bool]:
    """Above the soft cap the client stops where it sees repetition, above the hard one always."""
    repeated = _highest_counts(_fingerprints(calls))
    return [
        count + missing > _HARD_CAP or (count + missing > _CAP and most >= _SPREAD)
        for count, (missing, most) in enumerate(zip(lost, repeated, strict=True), 1)
    ]


def _invalid(calls: Sequence[JudgedCall], lost: Sequence[int]) -> list[bool]:
    """Refusals of one tool in the turn, not in a row. Each is in the log: the client asks after it."""
    refused = [call.of_batch.call.call.tool if error_class(call) == INVALID_PARAMETERS else None for call in calls]
    return [count >= _INVALID_PARAMETERS for count in _highest_counts(refused)]


def _failing(calls: Sequence[JudgedCall], lost: Sequence[int]) -> list[bool]:
    """One tool failing in one way; what other tools do well in between does not matter. The client asks after the results."""
    count, failing = 0, ("", "")
    fires: list[bool] = []
    for call in calls:
        tool, failure = call.of_batch.call.call.tool, error_class(call)
        if failure is None:
            count = 0 if tool == failing[0] else count
        elif _was_not_started(call):
            count = 0
        else:
            count = count + 1 if (tool, failure) == failing else 1
            failing = (tool, failure)
        fires.append(count >= _FAILURES)
    return fires


def _was_not_started(call: JudgedCall) -> bool:
    result = call.of_batch.call.result
    return result is not None and result.execution_status == "not_started"


_RULES: dict[str, Callable[[Sequence[JudgedCall], Sequence[int]], list[bool]]] = {
    "consecutive_identical_tool_calls": _consecutive,
    "global_tool_call_duplicate": _spread,
    "alternating_tool_call_pattern": _alternating,
    "action_stagnation": _same_tool,
    "read_file_loop": _reads,
    "shell_command_stagnation": _git_overview,
    "turn_tool_call_cap": _cap,
    "invalid_tool_params_stagnation": _invalid,
    "repeated_tool_execution_failure": _failing,
}
