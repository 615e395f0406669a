"""What a loop cost, in calls, seconds and tokens, and that nothing is counted twice."""

from __future__ import annotations

from msgspec.structs import replace

from analysis.analyse import analyse
from analysis.findings import FindingRow
from ingest.records import Response
from tests.analysis.detectors.shapes import failing, in_turn, look, status
from tests.support.loop_log import TOKENS, Did, LoopLog


def _loops(log: LoopLog) -> list[FindingRow]:
    return analyse(log.facts()).findings


def test_all_but_the_first() -> None:
    """A response takes a second and its answer another."""
    (row,) = _loops(in_turn(*[status()] * 7))
    assert (row.wasted_calls, row.wasted_seconds, row.wasted_tokens) == (6, 12.0, 6 * TOKENS)


def test_all_but_the_first_round_of_a_cycle() -> None:
    (row,) = _loops(in_turn(*[look("a"), look("b"), status()] * 4))
    assert (row.kind, row.wasted_calls, row.wasted_tokens) == ("cycle", 9, 9 * TOKENS)


def test_one_loop_that_three_detectors_see_is_one_finding() -> None:
    """CASES B1: invalid parameters, equal each time, and failing without end."""
    refused = Did({"questions": "[..]"}, "refused", tool="ask_user_question", error_class="invalid_tool_params")
    (row,) = _loops(in_turn(*[refused] * 400))
    assert (row.kind, row.wasted_calls, row.wasted_tokens) == ("invalid-parameters", 399, 399 * TOKENS)


def test_two_loops_of_a_turn_share_no_call() -> None:
    """Four refusals and eight other failures are twelve failures in a row, of which the refusals already claimed three."""
    refused = [failing(str(number), "invalid_tool_params") for number in range(4)]
    rows = _loops(in_turn(*refused, *(failing(str(number), f"error_{number}") for number in range(8))))
    assert {row.kind: row.wasted_calls for row in rows} == {"invalid-parameters": 3, "dead-end": 8}


def test_a_response_that_also_did_something_is_not_lost() -> None:
    (row,) = _loops(in_turn(*((status(), look(str(number))) for number in range(10))))
    assert (row.kind, row.wasted_calls) == ("spread-out-repeats", 9)
    assert (row.wasted_seconds, row.wasted_tokens) == (None, None)


def test_unrecorded_usage_is_unknown_and_not_nothing() -> None:
    log = in_turn(*[status()] * 5)
    log.records = [
        replace(record, tokens_in=None, tokens_out=None) if isinstance(record, Response) else record for record in log.records
    ]
    (row,) = _loops(log)
    assert (row.wasted_calls, row.wasted_tokens) == (4, None)


def test_a_finding_that_is_no_loop_wastes_nothing() -> None:
    log = LoopLog().asked().did(Did({"command": "make"}, None))
    (row,) = _loops(log)
    assert (row.kind, row.wasted_calls, row.wasted_seconds, row.wasted_tokens) == ("cut-off", None, None, None)


def test_a_sessions_repeats_leave_out_those_of_a_turns_own_loop() -> None:
    log = LoopLog()
    for turn in range(3):
        log.asked()
        for number in range(12 if turn == 0 else 9):
            log.did(status()).did(look(f"{turn}-{number}"))
        log.done()
    rows = _loops(log)
    assert [(row.kind, row.turn_no, row.wasted_calls) for row in rows] == [("spread-out-repeats", 1, 11)]
