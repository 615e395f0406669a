"""When calls are the same call, strictly and loosely, and how that is said."""

from __future__ import annotations

from typing import Any

from analysis.analyse import analyse
from analysis.findings import FindingRow, SessionFindings
from tests.analysis.detectors.shapes import STATUS, in_turn, status
from tests.support.loop_log import Did, LoopLog
from tests.support.session_log import SECOND, START


def _found(*steps: Did) -> SessionFindings:
    return analyse(in_turn(*steps).facts())


def _loop(*steps: Did) -> FindingRow | None:
    return next((row for row in _found(*steps).findings if row.kind == "identical-in-a-row"), None)


def _explained(times: int, **more: Any) -> list[Did]:
    return [Did({**STATUS, **more, "description": f"look again, time {number}"}) for number in range(times)]


def test_a_description_anew_each_time_hides_no_loop() -> None:
    """CASES B8. The ignored argument is named, and that the guard sees other calls."""
    row = _loop(*_explained(9))
    assert row is not None
    assert row.confidence == "probable"
    assert row.reason.startswith("run_shell_command 9x in a row with the same arguments but for description (loose key ")
    assert "a guard's fingerprint tells 9 calls apart" in row.reason


def test_the_loose_key_is_the_same_wherever_it_is_worked_out() -> None:
    one, other = _loop(*_explained(5)), _loop(*_explained(6, timeout=5)[:5])
    assert one is not None
    assert other is not None
    key, other_key = (row.reason.partition("loose key ")[2][:8] for row in (one, other))
    assert key != other_key
    again = _loop(*_explained(5))
    assert again is not None
    assert key in again.reason


def test_no_guard_decides_by_the_loose_key() -> None:
    """Under one id, each is a fresh call to the guard by fingerprint."""
    calls = [Did({**STATUS, "description": f"time {number}"}, call_id="sh_1") for number in range(9)]
    found = _found(*calls)
    assert [row.call_class for row in found.calls] == ["first-use"] + ["collision"] * 8
    assert not [row for row in found.decisions if row.guard in ("fingerprint", "any-fingerprint")]
    assert [row.kind for row in found.findings] == ["identical-in-a-row"]


def test_a_loop_that_is_strict_is_not_called_loose() -> None:
    row = _loop(*[Did({**STATUS, "description": "look"})] * 5)
    assert row is not None
    assert (row.confidence, row.reason) == ("certain", "run_shell_command 5x in a row with the same arguments, answered alike")


def test_answers_alike_but_for_a_process_id() -> None:
    """CASES B10."""
    row = _loop(*(status(f"up, pid {number}", stable="up, pid N") for number in range(121)))
    assert row is not None
    assert row.reason == (
        "run_shell_command 121x in a row with the same arguments, answered alike but for times, process ids and the like"
    )
    assert row.confidence == "certain"


def test_a_description_that_is_all_there_is_counts() -> None:
    assert _loop(*(Did({"description": f"task {number}"}, tool="create_task") for number in range(9))) is None


def test_dated_files_are_different_files() -> None:
    assert _loop(*(Did({"command": f"gzip log-2026-11-{day:02}T10:00:00"}) for day in range(1, 20))) is None


def test_a_time_that_is_the_calls_own_is_left_out() -> None:
    def at(number: int) -> Did:
        now = START // SECOND + 2 * number
        return Did({"command": f"curl 'http://localhost/state?_={now}123'"})

    row = _loop(*map(at, range(5)))
    assert row is not None
    assert "but for its own time" in row.reason


def test_arguments_that_are_not_kept_whole_are_compared_strictly() -> None:
    assert _loop(*_explained(9, notes="x" * 1100)) is None
    row = _loop(*[Did({**STATUS, "notes": "x" * 1100})] * 5)
    assert row is not None
    assert row.confidence == "certain"


def test_an_answer_that_the_client_wrote_is_no_answer_of_the_tools() -> None:
    log = LoopLog().asked()
    for number in range(9):
        log.did(Did(STATUS, None)).answer(f"call_{number + 1}", "interrupted")
    assert "identical-in-a-row" not in {row.kind for row in analyse(log.done().facts()).findings}
