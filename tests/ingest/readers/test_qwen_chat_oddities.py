"""What a session log says that cannot be right: the record is kept, and a problem told with its place."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from ingest.readers.qwen_chat import QwenChatReader
from tests.ingest.readers.reading import (
    kinds,
    lines,
    problems,
    prompt,
    read,
    records,
    stand_in,
)


def test_a_time_that_cannot_be_read_and_a_lost_session_id_are_told_once() -> None:
    odd = [prompt(f"u{number}") | {"timestamp": "soon", "sessionId": None} for number in range(3)]
    rows = read(QwenChatReader, lines(*odd))
    assert [(problem.kind, problem.line) for problem in problems(rows)] == [("lost-header", 1), ("unreadable-time", 1)]
    assert len(records(rows)) == 3


@pytest.mark.parametrize("parent", [7, ["u1"], {"uuid": "u1"}, False, 1.5])
def test_a_parent_that_is_no_id_is_told_once(parent: object) -> None:
    log = lines(prompt("u1"), *(prompt(f"u{number}") | {"parentUuid": parent} for number in (2, 3)), prompt("u4", parent="u3"))
    rows = read(QwenChatReader, log)
    assert [(problem.kind, problem.line) for problem in problems(rows)] == [("unreadable-parent", 2)]
    assert {row.uuid for row in records(rows)} == {"u1", "u2", "u3", "u4"}


@pytest.mark.parametrize(
    ("chain", "told_on"),
    [
        ("aa", [1]),
        ("a0 bb", [2]),
        ("ab ba", [2]),
        ("a0 bd cb dc", [4]),
        ("a0 bd cb dc ed ff", [4]),  # told once
        ("a0 ba cb", []),
        ("a0 ba cb da eb", []),  # other branches
        ("ba cb a0 da", []),  # the parent was lost, and written anew
        ("a0 ba cb a0 ba cb", []),  # written again on resume
        ("a0 ba cb ba cb dc", []),
        ("ba -b a0", []),
    ],
)
def test_a_record_that_hangs_on_itself_is_told(chain: str, told_on: list[int]) -> None:
    """Of each record the letter of its own and that of its parent: 0 for null, - for none."""
    log = [prompt(pair[0], parent=None if pair[1] == "0" else pair[1]) for pair in chain.split()]
    for value in log:
        if value["uuid"] == "-":
            del value["uuid"]
    rows = read(QwenChatReader, lines(*log))
    assert [(problem.kind, problem.line) for problem in problems(rows)] == [("circular-parents", line) for line in told_on]
    assert len(records(rows)) == len(log)


def test_a_circle_that_closes_behind_the_position_is_told() -> None:
    log = lines(prompt("a", parent="c"), prompt("b", parent="a"), prompt("c", parent="b"))
    cut = log.index(b"\n") + 1
    first, later = QwenChatReader("/x/s.jsonl", stand_in), QwenChatReader("/x/s.jsonl", stand_in)
    assert kinds(first.feed(log[:cut])) == []
    position = first.position()
    assert position is not None
    later.go_on(position, lambda offset, length: log[offset : offset + length])
    assert kinds(later.feed(log[cut:])) == ["circular-parents"]


@pytest.mark.parametrize(
    ("hours", "parent", "told_on"),
    [(-8, "u1", [2]), (-1.01, "u1", [2]), (-0.99, "u1", []), (8, "u1", [3]), (-8, "u0", []), (-8, None, [])],
)
def test_a_clock_that_steps_back_between_two_records_of_one_chain_is_told(
    hours: float, parent: str | None, told_on: list[int]
) -> None:
    """Records written again, and those of another branch, are older by right."""
    start = datetime(2026, 11, 30, 17, tzinfo=UTC)
    times = [(start + timedelta(hours=passed)).isoformat() for passed in (0, hours, 0.1)]
    parents = [None, parent, "u2"]
    chain = [
        prompt(f"u{n}", parent=parent) | {"timestamp": time}
        for n, (time, parent) in enumerate(zip(times, parents, strict=True), 1)
    ]
    rows = read(QwenChatReader, lines(*chain))
    assert [(problem.kind, problem.line) for problem in problems(rows)] == [("clock-step", line) for line in told_on]
