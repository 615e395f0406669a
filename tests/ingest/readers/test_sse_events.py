"""The daemon's event stream: recorded from 0.24.4, cut, delivered twice and damaged."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.readers.sse_events import SseEventsReader
from ingest.records import CardEvent, Event, Problem
from tests.ingest.readers.reading import DATA, cards, kinds, problems, read, read_chunks, records

STREAM = (DATA / "cards/events.sse").read_bytes()
SOURCE = "/logs/events.sse"
SESSION = "7a27773e-ad36-4e19-8957-1fb48c987ea4"
PROMPT = "12e57224-7e64-4812-9a68-a0efb67f2c9b"


def told(data: bytes) -> list[CardEvent]:
    return cards(read(SseEventsReader, data, SOURCE))


def test_the_recorded_cards_and_the_end_of_the_turn() -> None:
    assert [(one.kind, one.card_id, one.status, one.round_no) for one in told(STREAM)] == [
        ("start", "call_1", "pending", 1),
        ("update", "call_1", "in_progress", None),
        ("update", "call_1", "completed", None),
        ("start", "call_1__qwen_dup_2", "pending", 2),
        ("update", "call_1__qwen_dup_2", "failed", None),
        ("start", "call_1__qwen_dup_3", "pending", 3),
        ("update", "call_1__qwen_dup_3", "failed", None),
    ]
    first = told(STREAM)[0]
    assert (first.session_id, first.surface, first.prompt_id, first.ts) == (SESSION, "sse", PROMPT, 1_796_061_864_023_000)
    (end,) = [row for row in records(read(SseEventsReader, STREAM, SOURCE)) if isinstance(row, Event)]
    assert (end.channel, end.name, end.prompt_id, end.status) == ("wire", "prompt_response", PROMPT, None)
    assert (end.error_class, end.loop_type) == ("LOOP_DETECTED", "global_tool_call_duplicate")


def test_the_place_is_the_event_in_the_file() -> None:
    for one in told(STREAM):
        event = STREAM[one.place.offset : one.place.offset + one.place.length]
        assert event.startswith(b"id: ")
        assert f'"toolCallId":"{one.card_id}"'.encode() in event
        assert STREAM[: one.place.offset].count(b"\n") == one.place.line - 1


@given(st.lists(st.integers(0, len(STREAM)), max_size=6).map(sorted))
def test_chunks_do_not_matter(cuts: list[int]) -> None:
    edges = [0, *cuts, len(STREAM)]
    pieces = read_chunks(SseEventsReader, [STREAM[a:b] for a, b in pairwise(edges)], SOURCE)
    whole = read(SseEventsReader, STREAM, SOURCE)
    assert pieces == whole
    assert [one.place for one in cards(pieces)] == [one.place for one in cards(whole)]


def test_lines_may_end_with_carriage_returns_behind_a_byte_order_mark() -> None:
    assert told(b"\xef\xbb\xbf" + STREAM.replace(b"\n", b"\r\n")) == told(STREAM)


def test_data_may_be_spread_over_lines_and_other_fields_are_passed_over() -> None:
    event = b'data: {"v":1,"type":"turn_complete",\ndata:"data":{"sessionId":"s","stopReason":"x"}}\n\n'
    rows = read(SseEventsReader, b": a comment\nevent: x\ndata\n\n" + event, SOURCE)
    assert [row.status for row in rows if isinstance(row, Event)] == ["x"]


def test_an_event_delivered_twice_is_known_by_its_id_and_time() -> None:
    again = told(STREAM + STREAM)
    assert len({one.uuid for one in again}) == 7
    assert len(again) == 14


def test_a_stream_cut_behind_an_event_holds_it_and_one_cut_within_is_torn() -> None:
    end = STREAM.index(b"\n\n", STREAM.index(b'"call_1__qwen_dup_2"')) + 1
    assert len(told(STREAM[:end])) == 4
    rows = read(SseEventsReader, STREAM[: end - 20], SOURCE)
    assert (kinds(rows), len(cards(rows))) == (["torn-tail"], 3)
    (problem,) = problems(rows)
    assert STREAM[problem.offset :].startswith(b"id: 9\n")


def test_damage_costs_one_event() -> None:
    broken = STREAM.replace(b'"status":"completed"', b'"status":"comple\x00', 1)
    rows = read(SseEventsReader, broken, SOURCE)
    assert kinds(rows) == ["damaged"]
    assert len(cards(rows)) == 6
    rows = read(SseEventsReader, b"not a field\n" + STREAM + b"data: [1]\n\n", SOURCE)
    assert (kinds(rows), len(cards(rows))) == (["damaged", "foreign-record"], 7)


@pytest.mark.parametrize("data", [b"", b"\n\n\n", b"data:", b"data: {\n\n", b"id: 1\n\nevent", b"\xff\xfe"])
def test_anything_is_survived(data: bytes) -> None:
    assert all(isinstance(row, Problem) for row in read(SseEventsReader, data, SOURCE))
