"""The client's own loop heuristics, re-run on the recorded calls to explain its `loop_detected` events (code, 0.24.4).

They look at calls alone and never at results, so they fire on honest work too; the thresholds are the client's and no settings.
All types that recorded calls can show are here; texts and thoughts are not kept, so chanting and thought loops stay unmatched.
The client asks at each call, before it runs: what counts is whether a rule fires on the last call before the event. The
response on which headless stops is in no log (recordings i, i2), so there a rule that lacks one call has fired on that one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence

import msgspec

from analysis.detectors.errors import INVALID_PARAMETERS, error_class
from analysis.turn_state import JudgedCall, TurnState
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


def explains(state: TurnState, event: Event) -> bool:
    rule = _RULES.get(event.loop_type or "")
    calls = [call for call in state.calls if not _is_later(call, event)]
    return rule is not None and bool(calls) and rule(calls, _lost(calls))


def _is_later(call: JudgedCall, event: Event) -> bool:
    ts = call.of_batch.call.record.ts
    return ts is not None and event.ts is not None and ts > event.ts


def _lost(calls: Sequence[JudgedCall]) -> int:
    """1 where the response that the client stopped on may be missing: every recorded call has its answer."""
    return 1 if all(call.of_batch.call.result is not None for call in calls) else 0


def _last_streak(keys: Sequence[object | None]) -> int:
    if not keys or keys[-1] is None:
        return 0
    return next((index for index, key in enumerate(reversed(keys)) if key != keys[-1]), len(keys))


def _fingerprints(calls: Sequence[JudgedCall]) -> list[bytes | None]:
    return [call.of_batch.fingerprint for call in calls]


def _tools(calls: Sequence[JudgedCall]) -> list[str]:
    return [call.of_batch.call.call.tool for call in calls]


def _most_repeated(calls: Sequence[JudgedCall]) -> int:
    return max(Counter(key for key in _fingerprints(calls) if key is not None).values(), default=0)


def _consecutive(calls: Sequence[JudgedCall], lost: int) -> bool:
    return _last_streak(_fingerprints(calls)) + lost >= CONSECUTIVE


def _spread(calls: Sequence[JudgedCall], lost: int) -> bool:
    return _most_repeated(calls) + lost >= _SPREAD


def _alternating(calls: Sequence[JudgedCall], lost: int) -> bool:
    last = _fingerprints(calls)[-(_ALTERNATIONS - lost) :]
    first, second = (*last, None, None)[:2]
    takes_turns = all(key == (second if index % 2 else first) for index, key in enumerate(last))
    return len(last) == _ALTERNATIONS - lost and None not in (first, second) and first != second and takes_turns


def _same_tool(calls: Sequence[JudgedCall], lost: int) -> bool:
    return _last_streak(_tools(calls)) + lost >= _STAGNATION


def _reads(calls: Sequence[JudgedCall], lost: int) -> bool:
    tools = _tools(calls)
    reads = sum(1 for tool in tools[-(_READS_WINDOW - lost) :] if _READING.fullmatch(tool))
    return any(not _READING.fullmatch(tool) for tool in tools) and reads + lost >= _READS


def _git_overview(calls: Sequence[JudgedCall], lost: int) -> bool:
    return _last_streak([True if _is_git_overview(call) else None for call in calls]) + lost >= _STAGNATION


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


def _cap(calls: Sequence[JudgedCall], lost: int) -> bool:
    """Above the soft cap the client stops where it sees repetition, above the hard one always."""
    total = len(calls) + lost
    return total > _HARD_CAP or (total > _CAP and _most_repeated(calls) >= _SPREAD)


def _invalid(calls: Sequence[JudgedCall], lost: int) -> bool:
    """Refusals of one tool in the turn, not in a row. Each is in the log: the client asks after it."""
    refused = Counter(call.of_batch.call.call.tool for call in calls if error_class(call) == INVALID_PARAMETERS)
    return max(refused.values(), default=0) >= _INVALID_PARAMETERS


def _failing(calls: Sequence[JudgedCall], lost: int) -> bool:
    """One tool failing in one way; what other tools do well in between does not matter. The client asks after the results."""
    count, failing = 0, ("", "")
    for call in calls:
        tool, failure = call.of_batch.call.call.tool, error_class(call)
        if failure is None:
            count = 0 if tool == failing[0] else count
        elif _was_not_started(call):
            count = 0
        else:
            count = count + 1 if (tool, failure) == failing else 1
            failing = (tool, failure)
    return count >= _FAILURES


def _was_not_started(call: JudgedCall) -> bool:
    result = call.of_batch.call.result
    return result is not None and result.execution_status == "not_started"


_RULES: dict[str, Callable[[Sequence[JudgedCall], int], bool]] = {
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
