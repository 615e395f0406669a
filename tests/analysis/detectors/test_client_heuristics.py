"""When the client's own rule, at the client's threshold (FORMATS.md, telemetry; code 0.24.4), fires on the recorded calls."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from analysis.analyse import analyse
from tests.analysis.detectors.shapes import READ, between, failing, look, status
from tests.support.loop_log import Did, LoopLog

GIT = {"command": "git --no-pager status && git diff HEAD~1"}


def _same(times: int) -> list[Did]:
    return [status(str(number)) for number in range(times)]


def _spread(times: int) -> list[Did]:
    return between(*_same(times))


def _alternating(times: int) -> list[Did]:
    return [status(str(number)) if number % 2 else look("a") for number in range(times)]


def _one_tool(times: int) -> list[Did]:
    return [Did({"pattern": str(number)}, tool="grep_search") for number in range(times)]


def _reads(times: int) -> list[Did]:
    return [status(), *(look(str(number)) for number in range(times))]


def _git(times: int) -> list[Did]:
    return [Did(GIT, str(number)) for number in range(times)]


def _many(times: int) -> list[Did]:
    return [*_spread(6), *(look(f"f{number}") for number in range(times - 12))]


def _refused(times: int) -> list[Did]:
    """Not in a row: the daemon counts them over the turn."""
    return between(*(failing(str(number), "invalid_tool_params") for number in range(times)))


def _failing(times: int) -> list[Did]:
    return [failing(str(number)) for number in range(times)]


def _explained(loop_type: str, calls: list[Did]) -> str:
    log = LoopLog().asked()
    for did in calls:
        log.did(did)
    (row,) = analyse(log.told(loop_type).facts()).loop_events
    return row.explained_by


@pytest.mark.parametrize(
    ("loop_type", "calls", "threshold"),
    [
        ("consecutive_identical_tool_calls", _same, 5),
        ("global_tool_call_duplicate", _spread, 6),
        ("alternating_tool_call_pattern", _alternating, 6),
        ("action_stagnation", _one_tool, 8),
        ("read_file_loop", _reads, 8),
        ("shell_command_stagnation", _git, 8),
        ("turn_tool_call_cap", _many, 101),
    ],
)
def test_the_call_it_stopped_on_may_be_missing(loop_type: str, calls: Callable[[int], list[Did]], threshold: int) -> None:
    """The client asks before the call runs; the response it stops on is not recorded (recordings i, i2)."""
    assert _explained(loop_type, calls(threshold)) == "detector"
    assert _explained(loop_type, calls(threshold - 1)) == "detector"
    assert _explained(loop_type, calls(threshold - 2)) == "unmatched"


@pytest.mark.parametrize(
    ("loop_type", "calls", "threshold"),
    [("invalid_tool_params_stagnation", _refused, 3), ("repeated_tool_execution_failure", _failing, 9)],
)
def test_after_a_result_nothing_is_missing(loop_type: str, calls: Callable[[int], list[Did]], threshold: int) -> None:
    assert _explained(loop_type, calls(threshold)) == "detector"
    assert _explained(loop_type, calls(threshold - 1)) == "unmatched"


def test_an_open_call_is_the_one_it_stopped_on() -> None:
    calls = _same(4)
    assert _explained("consecutive_identical_tool_calls", [*calls[:3], Did(calls[3].args, None)]) == "unmatched"
    assert _explained("consecutive_identical_tool_calls", [*calls, Did(calls[0].args, None)]) == "detector"


def test_reads_alone_are_exploration() -> None:
    assert _explained("read_file_loop", _reads(15)[1:]) == "unmatched"


def test_only_an_overview_of_the_whole_repository_counts_as_inspection() -> None:
    calls = [Did({"command": f"git log -p file-{number}"}) for number in range(9)]
    assert _explained("shell_command_stagnation", calls) == "unmatched"


def test_a_loop_that_was_left_before_the_event_does_not_explain_it() -> None:
    assert _explained("consecutive_identical_tool_calls", [*_same(5), look("a"), look("b")]) == "unmatched"


@pytest.mark.parametrize("loop_type", ["chanting_identical_sentences", "repetitive_thoughts", "a_type_of_tomorrow"])
def test_what_calls_cannot_show_stays_unmatched(loop_type: str) -> None:
    assert _explained(loop_type, [*_same(9), *_one_tool(9), *_failing(9)]) == "unmatched"


def test_calls_after_the_event_do_not_explain_it() -> None:
    log = LoopLog().asked().did(look("a")).told("consecutive_identical_tool_calls")
    for did in _same(6):
        log.did(did)
    (row,) = analyse(log.facts()).loop_events
    assert row.explained_by == "unmatched"


def test_reading_tools_are_told_by_name() -> None:
    assert READ.startswith("read_")
    calls = [status(), *(Did({"n": number}, tool="list_projects") for number in range(8))]
    assert _explained("read_file_loop", calls) == "detector"
    reviewing = [status(), *(Did({"n": number}, tool=f"review_{number}") for number in range(8))]
    assert _explained("read_file_loop", reviewing) == "unmatched"
