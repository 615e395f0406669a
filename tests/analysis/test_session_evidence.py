"""Duplicates within one response and the client's own loop detector: what evidence tells, else that nobody can."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from analysis.analyse import analyse
from analysis.findings import SessionRow
from ingest.records import Event, Place, SessionFacts
from tests.support.card_events import CardLog
from tests.support.session_log import START, SessionLog, call

MINUTE = 60_000_000
WHOLE_TIME = 10.0 * MINUTE / 1000


def told(name: str, *, ts: int = START, **more: Any) -> Event:
    return Event(place=Place("debug/s.txt", 0, 9, 1), session_id="s", ts=ts, channel="telemetry", name=name, **more)


def two_responses(version: str = "0.24.4") -> SessionFacts:
    log = SessionLog(version=version).prompt()
    log.response(call("a", {"n": 1})).answer("a").response(call("b", {"n": 2})).answer("b").response(text=True)
    return log.facts()


def found(facts: SessionFacts, *events: Event) -> SessionRow:
    session = analyse(replace(facts, events=events)).session
    assert session is not None
    return session


def duplicates(facts: SessionFacts, *events: Event) -> int | None:
    return found(facts, *events).same_response_duplicates


def test_the_log_alone_cannot_show_them() -> None:
    assert duplicates(two_responses()) is None


def test_a_log_that_holds_them_is_counted() -> None:
    log = (
        SessionLog()
        .prompt()
        .response(call("a", {"n": 1}), call("a", {"n": 2}, part=1), call("a", {"n": 2}, part=2))
        .answer("a")
    )
    assert duplicates(log.facts()) == 2


def test_the_debug_log_names_each() -> None:
    drops = [told("debug.same_response_duplicate", call_id=name) for name in "ab"]
    assert duplicates(two_responses(), *drops) == 2


def test_none_were_dropped_where_a_debug_log_was_written_all_the_time() -> None:
    assert duplicates(two_responses(), told("debug.stretch", duration_ms=WHOLE_TIME)) == 0


@pytest.mark.parametrize(
    ("version", "events"),
    [
        ("0.24.4", [told("debug.stretch", ts=START - 2 * MINUTE, duration_ms=1000.0)]),
        ("0.24.4", [told("debug.stretch", duration_ms=WHOLE_TIME), told("api_error", error_class="InvalidStreamError")]),
        ("0.15.10", [told("debug.stretch", duration_ms=WHOLE_TIME)]),
    ],
    ids=["written at another time", "a response was thrown away", "a version that does not name what it drops"],
)
def test_zero_is_not_made_up(version: str, events: list[Event]) -> None:
    assert duplicates(two_responses(version), *events) is None


def test_the_cards_of_an_interface_show_them() -> None:
    cards = CardLog().round().delta(0, "a").delta(1, "a").start("a", {"n": 1}).start("a", {"n": 2}).completed("a")
    assert duplicates(replace(two_responses(), cards=cards.facts().cards)) == 1


def test_what_several_sources_tell_is_not_added_up() -> None:
    log = SessionLog().prompt().response(call("a", {"n": 1}), call("a", {"n": 2}, part=1)).answer("a")
    assert duplicates(log.facts(), told("debug.same_response_duplicate", call_id="a")) == 1


def test_a_parents_trip_is_not_proved_by_its_sub_agents_line() -> None:
    log = SessionLog().prompt().response(call("a", {"n": 1})).answer("a")
    log.response(call("a", {"n": 1})).answer("a", "duplicate", quoted_id="a").response(call("a", {"n": 1}))

    def recorded(**more: Any) -> list[bool]:
        facts = replace(log.facts(), events=(told("debug.dropped_batch", ts=START + MINUTE, call_id="a", **more),))
        return [trip.recorded for trip in analyse(facts).trips if trip.guard == "fingerprint"]

    assert recorded() == [True]
    assert recorded(attributes={"round": "3"}) == [False]


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        ([], "unknown"),
        ([told("loop_detection_disabled")], "off"),
        ([told("loop_detected", loop_type="chanting_identical_sentences")], "on"),
        ([told("loop_detected", loop_type="chanting_identical_sentences"), told("loop_detection_disabled")], "off"),
        # The breaker tells the same event, and here nothing says which of the two it was.
        ([told("loop_detected", loop_type="global_tool_call_duplicate")], "unknown"),
    ],
)
def test_whether_the_clients_own_detector_ran(events: list[Event], expected: str) -> None:
    assert found(two_responses(), *events).loop_detection == expected
