"""A desktop client's event log, in the framings that docs/card-events.md allows."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.readers.card_events import CardEventsReader
from ingest.records import CardEvent
from ingest.sources import recognise
from tests.ingest.readers.reading import DATA, cards, kinds, lines, read, read_chunks

LOG = (DATA / "cards/desktop.ndjson").read_bytes()
SOURCE = "/logs/desk.ndjson"
EXAMPLE = Path(__file__).parents[3] / "data/cards/two-cards-one-id.ndjson"


def told(data: bytes, source: str = SOURCE) -> list[CardEvent]:
    return cards(read(CardEventsReader, data, source))


def one(**members: Any) -> CardEvent:
    (event,) = told(lines(members))
    return event


def test_every_framing_is_read() -> None:
    fields = ("kind", "card_id", "tool", "round_no", "status", "result_lines")
    assert [tuple(getattr(event, name) for name in fields) for event in told(LOG)] == [
        ("round", None, None, 1, None, None),
        ("delta", "t1", "glob", 1, None, None),
        ("delta", None, None, 1, None, None),
        ("start", "t1", "glob", 1, "running", None),
        ("approval", "t1", None, None, "approved", None),
        ("update", "t1", None, None, "completed", 2),
        ("round", None, None, 2, None, None),
        ("start", None, "rm", 2, "running", None),
        ("approval", None, None, None, "denied", None),
        ("update", None, None, None, "failed", 1),
    ]
    assert {event.session_id for event in told(LOG)} == {"desk"}
    assert kinds(read(CardEventsReader, LOG, SOURCE)) == []


def test_times_in_every_unit() -> None:
    at = 1_796_061_600_000_000
    assert [event.ts for event in told(LOG) if event.ts] == [at, at + 500_000, at + 750_000, at + 1_000_000]


def test_arguments_as_object_and_as_text_are_the_same() -> None:
    as_text = one(type="AiToolCallStarted", id="a", name="glob", args='{"b": 1, "a": [2]}')
    as_object = one(type="AiToolCallStarted", id="a", name="glob", args={"a": [2], "b": 1})
    assert as_text == as_object
    assert as_text.args_json == '{"a":[2],"b":1}'
    begun = one(type="AiToolCallStarted", id="a", name="glob", args='{"b": 1, "a')
    assert (begun.args_json, begun.fingerprint) == ('{"b": 1, "a', None)
    assert one(type="AiToolCallStarted", id="a", name="glob").args_json is None


def test_an_empty_id_is_not_an_absent_one() -> None:
    assert one(type="AiToolCallStarted", id="", name="x").card_id == ""
    assert one(type="AiToolCallStarted", name="x").card_id is None


@pytest.mark.parametrize(
    ("members", "status", "count"),
    [
        ({"result": "a\nb\nc"}, "completed", 3),
        ({"result": "a\nb\nc\n"}, "completed", 3),
        ({"result": ""}, "completed", 0),
        ({}, "completed", 0),
        ({"result": {"text": "a\nb"}}, "completed", 2),
        ({"result": [{"text": "a\nb"}, {"text": "c"}]}, "completed", 3),
        ({"result": {"exit": 0}}, "completed", 1),
        ({"result": "a", "success": False}, "failed", 1),
        ({"result": "a", "is_error": True}, "failed", 1),
        ({"error": "boom"}, "failed", 1),
        ({"result": "a", "status": "error"}, "failed", 1),
    ],
)
def test_results(members: dict[str, Any], status: str, count: int) -> None:
    event = one(type="AiToolCallCompleted", id="a", **members)
    assert (event.status, event.result_lines) == (status, count)


def test_a_result_nested_without_end_is_survived() -> None:
    nested: Any = "x"
    for _ in range(400):
        nested = [nested]
    assert one(type="AiToolCallCompleted", id="a", result=nested).result_lines == 1


@pytest.mark.parametrize("answer", [True, "approved", "allow", "Allow"])
def test_approvals(answer: object) -> None:
    assert one(type="AiApprovalResult", id="a", approved=answer).status == "approved"


def test_a_session_is_named_by_a_line_or_by_the_file() -> None:
    start = {"type": "AiToolCallStarted", "id": "a"}
    log = lines(start, start | {"session_id": "s1"}, start, {"type": "AiAgentRound", "data": {"sessionId": "s2"}}, start)
    assert [event.session_id for event in told(log, "/x/mine.events.ndjson")] == ["mine", "s1", "s1", "s2", "s2"]


def test_a_stream_log_of_its_own_counts_its_streams_as_rounds() -> None:
    log = lines({"index": 0, "id": "a", "stream": "x"}, {"index": 1, "stream": "x"}, {"index": 0, "id": "b", "stream": "y"})
    assert recognise(Path("/x/desk.deltas.ndjson"), log) is CardEventsReader
    assert [(event.session_id, event.round_no, event.stream_index) for event in told(log, "/x/desk.deltas.ndjson")] == [
        ("desk", 1, 0),
        ("desk", 1, 1),
        ("desk", 2, 0),
    ]


def test_the_example_is_the_report() -> None:
    """Two stream indexes with one id, two starts, one completion with 183 lines."""
    events = told(EXAMPLE.read_bytes(), str(EXAMPLE))
    assert [event.kind for event in events] == ["round", *["delta"] * 5, "start", "start", "update", "round"]
    assert {event.card_id for event in events if event.kind in ("start", "update")} == {"t1"}
    assert [event.result_lines for event in events if event.kind == "update"] == [183]
    result = json.loads(EXAMPLE.read_bytes().splitlines()[-2])["result"]
    assert result.count("\n") == 182


@given(st.lists(st.integers(0, len(LOG)), max_size=6).map(sorted))
def test_chunks_do_not_matter(cuts: list[int]) -> None:
    edges = [0, *cuts, len(LOG)]
    chunks = [LOG[a:b] for a, b in pairwise(edges)]
    assert read_chunks(CardEventsReader, chunks, SOURCE) == read(CardEventsReader, LOG, SOURCE)


def test_other_json_is_foreign_and_nothing_raises() -> None:
    assert kinds(read(CardEventsReader, b'{"a": 1}\n', SOURCE)) == ["foreign-record"]
    odd = lines(
        {"type": "AiToolCallStarted", "id": 7, "name": [], "args": 3}, {"AiToolCallCompleted": "x"}, {"AiAgentRound": None}
    )
    assert [(event.kind, event.card_id) for event in told(odd)] == [("start", "7"), ("update", None), ("round", None)]
