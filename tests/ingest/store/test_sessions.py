"""Facts out of the store are the facts that went in, each once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ingest.records import CardEvent, Event, Prompt, SessionFacts
from ingest.store.sessions import load_sessions
from ingest.store.writable import WritableStore
from tests.ingest.store.records import NOW, common, every_kind, put, telemetry, whole_card


@pytest.fixture
def store(tmp_path: Path) -> Iterator[WritableStore]:
    with WritableStore(tmp_path / "store.duckdb") as store:
        yield store


def load(store: WritableStore, session_id: str = "s") -> SessionFacts:
    (facts,) = load_sessions(store.con, [session_id])
    return facts


def test_every_field_of_every_record_comes_back(store: WritableStore) -> None:
    records = every_kind("/a")
    put(store, 1, "/a", records)
    loaded = load(store).records
    assert list(loaded) == records
    # Equality leaves the place out; evidence needs it.
    assert [record.place for record in loaded] == [record.place for record in records]


def card_event(source: str, line: int, **more: Any) -> CardEvent:
    place = common(source, line, uuid=None, parent_uuid=None)
    return CardEvent(**(place | {"surface": "desktop", "kind": "start", "card_id": "t1"} | more))


def test_what_interfaces_were_told_comes_back_apart_from_the_chain(store: WritableStore) -> None:
    told = [
        whole_card("/a", 1),
        card_event("/a", 2, card_id="", ts=None),
        card_event("/a", 3, card_id=None, ts=None),
    ]
    put(store, 1, "/a", [*told, *every_kind("/a")])
    loaded = load(store)
    assert list(loaded.cards) == told
    assert [event.place for event in loaded.cards] == [event.place for event in told]
    assert list(loaded.records) == every_kind("/a")


def test_equal_card_events_of_one_file_stay_and_a_copy_of_the_file_adds_none(store: WritableStore) -> None:
    """The same start told twice is what a double card comes from; told by a backup beside it, it is nothing new."""
    put(store, 1, "/a", [card_event("/a", line, ts=None) for line in (1, 2)])
    put(store, 2, "/backup", [card_event("/backup", line, ts=None) for line in (1, 2)])
    assert [event.place.line for event in load(store).cards] == [1, 2]
    assert len({event.place.source for event in load(store).cards}) == 1


def test_an_event_of_a_stream_that_was_delivered_twice_is_there_once(store: WritableStore) -> None:
    put(store, 1, "/a", [card_event("/a", line, uuid="4@17", surface="sse") for line in (1, 9)])
    assert [event.place.line for event in load(store).cards] == [1]


def test_a_session_tells_its_client_and_kind(store: WritableStore) -> None:
    put(store, 1, "/a", every_kind("/a", "s/agent-x") + every_kind("/a", "s"))
    main, agent = load_sessions(store.con, ["s", "s/agent-x"])
    assert (main.client, main.kind, main.parent_session_id) == ("qwen-code", "main", None)
    assert (agent.client, agent.kind, agent.parent_session_id) == ("qwen-code", "sub-agent", "s")


def test_a_session_that_no_source_knows_comes_empty(store: WritableStore) -> None:
    assert load(store, "nowhere") == SessionFacts(
        session_id="nowhere", kind="main", parent_session_id=None, client="unknown", records=(), events=()
    )


def test_a_copy_beside_the_original_adds_nothing(store: WritableStore) -> None:
    put(store, 1, "/a", every_kind("/a"))
    put(store, 2, "/b", every_kind("/b"))
    assert {record.place.source for record in load(store).records} == {"/a"}
    assert list(load(store).records) == every_kind("/a")


def test_the_longest_copy_is_the_one_that_counts_whatever_its_name_or_number(store: WritableStore) -> None:
    put(store, 1, "/a-cut", every_kind("/a-cut")[:3], size=500)
    put(store, 2, "/z-whole", every_kind("/z-whole"), size=900)
    assert {record.place.source for record in load(store).records} == {"/z-whole"}


def test_a_shorter_copy_that_goes_another_way_stands_before_the_longest_ones_way_and_is_told(store: WritableStore) -> None:
    own = Prompt(**common("/b", 9, uuid="own"))
    put(store, 1, "/a", every_kind("/a"), size=500)
    put(store, 2, "/b", [*every_kind("/b")[:2], own], size=900)
    assert list(load(store).records) == [*every_kind("/a")[:2], own, *every_kind("/a")[2:]]
    assert load(store).divergent_copies == (own.place,)


def test_a_record_appended_again_to_its_own_file_is_dropped(store: WritableStore) -> None:
    again = Prompt(**common("/a", 20, uuid="u1"))
    put(store, 1, "/a", [*every_kind("/a"), again])
    assert list(load(store).records) == every_kind("/a")


def test_records_without_uuid_stay_in_place_and_equal_ones_of_one_file_stay_two(store: WritableStore) -> None:
    records = [Prompt(**common("/a", line, uuid=None, parent_uuid=None, ts=NOW)) for line in (1, 2)]
    put(store, 1, "/a", records)
    assert [record.place.line for record in load(store).records] == [1, 2]


def test_records_without_uuid_of_a_copy_are_dropped(store: WritableStore) -> None:
    for source_id, source in (1, "/a"), (2, "/b"):
        records = [Prompt(**common(source, line, uuid=None, parent_uuid=None, ts=NOW)) for line in (1, 2)]
        put(store, source_id, source, records)
    assert [(record.place.source, record.place.line) for record in load(store).records] == [("/a", 1), ("/a", 2)]


def test_telemetry_delivered_twice_is_one_event(store: WritableStore) -> None:
    put(store, 1, "/t1", [telemetry("/t1", 1, ts=NOW, attributes={"k": "v"})])
    put(store, 2, "/t2", [telemetry("/t2", 7, ts=NOW, attributes={"k": "v"})])
    assert len(load(store).events) == 1


def test_two_prompts_in_the_same_millisecond_stay_two(store: WritableStore) -> None:
    events = [telemetry("/t", line, ts=NOW, name="user_prompt", prompt_id=f"s########{line}") for line in (0, 1)]
    put(store, 1, "/t", events)
    assert [event.prompt_id for event in load(store).events] == ["s########0", "s########1"]


def test_events_come_by_time_and_those_without_one_last(store: WritableStore) -> None:
    put(
        store,
        1,
        "/t",
        [
            telemetry("/t", 1, ts=None, name="agent-meta", channel="side"),
            telemetry("/t", 2, ts=NOW + 2, name="late"),
            telemetry("/t", 3, ts=NOW, name="early", channel="span"),
        ],
    )
    assert [event.name for event in load(store).events] == ["early", "late", "agent-meta"]
    assert load(store).records == ()


def test_a_sub_agent_hears_what_its_parent_says_of_it_and_no_more(store: WritableStore) -> None:
    log = Event(**common("/p", 4), channel="log", name="api_response", prompt_id="s#general-purpose-call_1#0")
    put(
        store,
        1,
        "/p",
        [
            telemetry("/p", 1, name="subagent_execution", status="failed"),
            telemetry("/p", 2, name="api_request", prompt_id="s#general-purpose-call_1#0"),
            telemetry("/p", 3, name="api_request", prompt_id="s#general-purpose-call_12#0"),
            log,
            telemetry("/p", 5, name="api_request", prompt_id="s########0"),
        ],
    )
    put(store, 2, "/c", every_kind("/c", "s/agent-general-purpose-call_1"))
    events = load(store, "s/agent-general-purpose-call_1").events
    assert [(event.name, event.place.line) for event in events] == [
        ("subagent_execution", 1),
        ("api_request", 2),
        ("api_response", 4),
    ]


def test_a_long_session_is_kept_in_small_rows_and_comes_back_in_order(store: WritableStore) -> None:
    records = [Prompt(**common("/a", line, session_id)) for line in range(1, 1001) for session_id in ("s", "t")]
    put(store, 1, "/a", records)
    rows = store.con.execute("SELECT max(records), sum(records), count(*) FROM fact_log").fetchall()
    assert rows == [(256, 2000, 8)]
    assert [record.place.line for record in load(store).records] == list(range(1, 1001))


def test_records_without_uuid_and_time_are_told_apart_without_comparing_all_with_all() -> None:
    """A set asks for equality where two hashes are the same."""
    events = [telemetry("/t", 1, ts=None, message=str(number), attributes={"n": str(number % 7)}) for number in range(500)]
    assert len({hash(event) for event in events}) == 500
    assert hash(events[3]) == hash(telemetry("/other", 9, ts=None, message="3", attributes={"n": "3"}))
