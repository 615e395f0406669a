"""A session twice as long takes twice the work, not four times: one of ten thousand calls must not stop everybody else's.

Work is counted and not timed: in lines that Python runs, of a log and of one twice as long.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest
from msgspec.structs import replace

from analysis.analyse import analyse
from ingest.records import Compaction, Event, HistoryEntry, Place, SessionFacts
from tests.support.session_log import START, SessionLog, call

WITHOUT_GUARD = "0.15.10"


def one_id(calls: int, *, version: str = WITHOUT_GUARD, different: bool = True) -> SessionLog:
    log = SessionLog(version=version).prompt()
    for number in range(calls):
        log.response(call("x", {"n": number if different else 0})).answer("x")
    return log


def one_response(calls: int, *, ids: Callable[[int], str], different: bool, answers: str = "in order") -> SessionLog:
    log = SessionLog(version=WITHOUT_GUARD).prompt()
    log.response(*(call(ids(number), {"n": number if different else 0}, part=number) for number in range(calls)))
    if answers != "none":
        for number in range(calls):
            log.answer(ids(number if answers == "in order" else calls - 1 - number))
    return log


def own(number: int) -> str:
    return f"call_{number}"


def same(number: int) -> str:
    return "x"


def answered_in_the_next_turn(calls: int) -> SessionLog:
    log = SessionLog().prompt()
    for number in range(calls):
        log.response(call(own(number)))
    log.prompt()
    for number in range(calls):
        log.answer(own(number))
    return log


def half_without_arguments(calls: int) -> SessionLog:
    log = one_id(calls)
    for index, record in enumerate(log.records):
        if index % 4 == 1:
            log.records[index] = replace(record, calls=(replace(record.calls[0], args_state="redacted"),))  # type: ignore[union-attr]
    return log


def turns_of_one_id(turns: int) -> SessionLog:
    log = SessionLog()
    for _ in range(turns):
        log.prompt().response(call("x")).answer("x").response()
    return log


def compacted_again_and_again(times: int) -> SessionLog:
    log = SessionLog().prompt()
    kept = (HistoryEntry("call", "x", "read_file", b"f" * 32), HistoryEntry("answer", "x"))
    for number in range(times):
        log.response(call("x", {"n": number})).answer("x")
        log.records.append(Compaction(place=Place("log.jsonl", 0, 1, 1), session_id="s", entries=kept))
    return log


def told_by_telemetry(events: int) -> SessionFacts:
    """As many turns as events, and nothing but the clock says which turn an event is of."""
    told = (
        Event(
            place=Place("t", 0, 1, number), session_id="s", ts=START + number * 4_000_000, channel="telemetry", name="api_error"
        )
        for number in range(events)
    )
    return replace(turns_of_one_id(events).facts(), events=tuple(told))


def loops_told_again_and_again(calls: int) -> SessionFacts:
    told = (
        Event(
            place=Place("t", 0, 1, number),
            session_id="s",
            ts=START + number * 2_000_000,
            channel="telemetry",
            name="loop_detected",
            loop_type=("action_stagnation", "read_file_loop", "repeated_tool_execution_failure")[number % 3],
        )
        for number in range(calls)
    )
    return replace(one_id(calls).facts(), events=tuple(told))


SHAPES: dict[str, Callable[[int], SessionLog | SessionFacts]] = {
    "one id, each call another": one_id,
    "one id and one call": lambda n: one_id(n, different=False),
    "one id, the guard of 0.21": lambda n: one_id(n, version="0.21.10"),
    "one id, the guard of 0.24": lambda n: one_id(n, version="0.24.4"),
    "one id and one call, the guard of 0.24": lambda n: one_id(n, version="0.24.4", different=False),
    "one response of new ids": lambda n: one_response(n, ids=own, different=True),
    "one response, answered from its end": lambda n: one_response(n, ids=own, different=True, answers="from the end"),
    "one response of equal calls": lambda n: one_response(n, ids=own, different=False),
    "one response of equal calls without an answer": lambda n: one_response(n, ids=own, different=False, answers="none"),
    "one response of one id": lambda n: one_response(n, ids=same, different=True),
    "one response of one id and one call": lambda n: one_response(n, ids=same, different=False),
    "answers in the next turn": answered_in_the_next_turn,
    "arguments that are not whole": half_without_arguments,
    "turns of one id, each with an empty end": turns_of_one_id,
    "compactions": compacted_again_and_again,
    "telemetry by the clock": told_by_telemetry,
    "loops told by telemetry": loops_told_again_and_again,
}


def lines_run(facts: SessionFacts) -> int:
    count = 0

    def trace(frame: FrameType, event: str, arg: Any) -> Any:
        nonlocal count
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        analyse(facts)
    finally:
        sys.settrace(before)
    return count


@pytest.mark.parametrize("shape", SHAPES.values(), ids=list(SHAPES))
def test_twice_the_session_is_twice_the_work(shape: Callable[[int], SessionLog | SessionFacts]) -> None:
    short, long = (made if isinstance(made := shape(size), SessionFacts) else made.facts() for size in (60, 120))
    assert lines_run(long) < 2.2 * lines_run(short)


def test_a_judged_session_is_freed_without_a_search_for_cycles() -> None:
    """A run over ten thousand sessions does without such a search: what one leaves behind in a cycle stays until the end."""
    facts = turns_of_one_id(5).facts()
    analyse(facts)
    was_on = gc.isenabled()
    gc.disable()
    try:
        gc.collect()
        analyse(facts)
        assert gc.collect() == 0
    finally:
        if was_on:
            gc.enable()
