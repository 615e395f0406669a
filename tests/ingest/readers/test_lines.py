"""Where records begin and end, and what is left of damaged files. The damage is that of public fault reports."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.readers.lines import LONGEST_LINE
from ingest.readers.qwen_chat import QwenChatReader
from ingest.records import Problem, Prompt, Result
from tests.ingest.readers.reading import (
    CHATS,
    SESSION,
    call,
    kinds,
    line,
    lines,
    problems,
    prompt,
    read,
    read_chunks,
    records,
    response,
    result,
)

ROOT = Path(__file__).parents[3]
LOG = (CHATS / f"{SESSION}.jsonl").read_bytes()
SOURCE = f"/logs/{SESSION}.jsonl"


def uuids(rows: Sequence[object]) -> list[str | None]:
    return [getattr(row, "uuid", None) for row in rows if not isinstance(row, Problem)]


def test_place_leads_back_to_the_line_that_was_read() -> None:
    found = records(read(QwenChatReader, LOG))
    written = LOG.split(b"\n")[:-1]
    assert len(found) == len(written) == 13
    for number, one in enumerate(found, 1):
        place = one.place
        assert place.source == SOURCE
        assert place.line == number
        assert LOG[place.offset : place.offset + place.length] == written[number - 1]


@pytest.mark.parametrize("chunk", [1, 7, 64, 1000, 5000])
def test_chunks_do_not_matter(chunk: int) -> None:
    whole = read(QwenChatReader, LOG)
    pieces = read(QwenChatReader, LOG, chunk=chunk)
    assert pieces == whole
    assert [one.place for one in records(pieces)] == [one.place for one in records(whole)]


def test_places_hold_over_blocks_of_more_than_one_megabyte() -> None:
    log = lines(*(prompt(f"u{number}", "x" * (number * 37 % 5000)) for number in range(1000)))
    assert len(log) > 2 << 20
    found = records(read(QwenChatReader, log, chunk=700_000))
    assert uuids(list(found)) == [f"u{number}" for number in range(1000)]
    assert [one.place.line for one in found] == list(range(1, 1001))
    assert all(log[one.place.offset : one.place.offset + one.place.length].endswith(b"}") for one in found)
    assert sum(one.place.length + 1 for one in found) == len(log)


def test_a_missing_newline_at_the_end_loses_nothing() -> None:
    assert read(QwenChatReader, LOG[:-1]) == read(QwenChatReader, LOG)


def test_unicode_line_separators_end_no_line() -> None:
    log = lines(prompt("u1", "one\u2028two\u0085three\x1cfour"), prompt("u2"))
    rows = read(QwenChatReader, log)
    assert uuids(rows) == ["u1", "u2"]
    assert [one.place.line for one in records(rows)] == [1, 2]


def test_byte_order_mark_and_carriage_returns_are_no_damage() -> None:
    log = b"\xef\xbb\xbf" + lines(prompt("u1"), prompt("u2")).replace(b"\n", b"\r\n")
    rows = read(QwenChatReader, log)
    assert uuids(rows) == ["u1", "u2"]
    assert problems(rows) == []


def test_blank_lines_are_no_damage_and_are_counted() -> None:
    rows = read(QwenChatReader, b"\n" + lines(prompt("u1")) + b"\n  \n" + lines(prompt("u2")))
    assert problems(rows) == []
    assert [one.place.line for one in records(rows)] == [2, 5]


def test_two_records_on_one_line_are_both_kept() -> None:
    log = lines(prompt("u0")) + line(response("u1", call("c"))) + line(result("u2", "c", {"output": "ok"})) + b"\n"
    rows = read(QwenChatReader, log + lines(prompt("u3")))
    assert uuids(rows) == ["u0", "u1", "u2", "u3"]
    assert problems(rows) == [Problem("repaired", "2 records on one line", len(lines(prompt("u0"))), 2)]
    second, third = records(rows)[1:3]
    assert second.place.offset + second.place.length == third.place.offset


def test_a_record_broken_over_lines_beside_two_on_one_line_shifts_nothing() -> None:
    broken = line(prompt("u1")).replace(b'"message":', b'"message":\n')
    doubled = line(prompt("u2")) + line(prompt("u3"))
    rows = read(QwenChatReader, broken + b"\n" + doubled + b"\n" + lines(prompt("u4")))
    assert uuids(rows) == ["u1", "u2", "u3", "u4"]
    assert [one.place.line for one in records(rows)] == [1, 3, 3, 4]
    assert [(problem.kind, problem.line) for problem in problems(rows)] == [("repaired", 1), ("repaired", 3)]


def test_nul_blocks_cost_no_record() -> None:
    log = (
        line(prompt("u1"))
        + b"\x00" * 9000
        + b"\n"
        + b"\x00" * 50
        + b"\n"
        + lines(prompt("u2"), prompt("u3"))
        + b"\x00" * 140_000
    )
    rows = read(QwenChatReader, log)
    assert uuids(rows) == ["u1", "u2", "u3"]
    assert [(problem.kind, problem.detail, problem.line) for problem in problems(rows)] == [
        ("nul-block", "9000 NUL bytes", 1),
        ("nul-block", "50 NUL bytes", 2),
        ("nul-block", "140000 NUL bytes", 5),
    ]


def test_a_record_over_several_lines_is_put_together_again() -> None:
    raw_newlines = line(prompt("u1", "a@@b@c")).replace(b"@", b"\n")
    rows = read(QwenChatReader, lines(prompt("u0")) + raw_newlines + b"\n" + lines(prompt("u2")))
    assert uuids(rows) == ["u0", "u1", "u2"]
    (mended,) = problems(rows)
    assert (mended.kind, mended.offset, mended.line) == ("repaired", len(lines(prompt("u0"))), 2)
    assert "one record on 4 lines" in mended.detail
    place = records(rows)[1].place
    assert (place.offset, place.length, place.line) == (mended.offset, len(raw_newlines), 2)


def test_raw_newlines_in_arguments_are_part_of_what_was_called() -> None:
    whole = response("u1", call("c", command="echo a\n\n  b"))
    raw_newlines = line(whole).replace(b"\\n", b"\n")
    (mended,) = records(read(QwenChatReader, raw_newlines + b"\n"))
    assert mended == records(read(QwenChatReader, lines(whole)))[0]


def test_a_record_over_three_lines_that_lacks_a_piece_is_one_damage_and_the_next_is_read() -> None:
    first, _, third = line(prompt("u1", "a@b@c")).replace(b'"parts":[', b"").split(b"@")
    rows = read(QwenChatReader, lines(prompt("u0")) + b"\n".join((first, b"b", third)) + b"\n" + lines(prompt("u2")))
    assert uuids(rows) == ["u0", "u2"]
    (damage,) = problems(rows)
    assert (damage.kind, damage.line) == ("damaged", 2)
    assert damage.detail.startswith("3 lines")


def test_a_second_writer_in_the_middle_of_a_line_costs_the_broken_record_only() -> None:
    log = lines(prompt("u1")) + line(prompt("u2"))[:60] + line(prompt("u3")) + b"\n" + lines(prompt("u4"))
    rows = read(QwenChatReader, log)
    assert uuids(rows) == ["u1", "u3", "u4"]
    assert kinds(rows) == ["damaged"]


@pytest.mark.parametrize("rest_on", ["the same line", "the next line", "a later line"])
@pytest.mark.parametrize("cut_at", [1, 9, 60, 150, -1])
def test_a_record_with_another_writers_in_its_middle_is_kept_and_so_is_the_other(rest_on: str, cut_at: int) -> None:
    broken, inner, between = line(prompt("u2", " a b ")), line(prompt("u3")), lines(prompt("u4"))
    gap = {"the same line": b"", "the next line": b"\n", "a later line": b"\n" + between}[rest_on]
    log = lines(prompt("u1")) + broken[:cut_at] + inner + gap + broken[cut_at:] + b"\n" + lines(prompt("u5"))
    rows = read(QwenChatReader, log)
    assert sorted(uuids(rows)) == ["u1", "u2", "u3", *(["u4"] if "later" in rest_on else []), "u5"]  # type: ignore[type-var]
    assert next(row for row in records(rows) if row.uuid == "u2") == records(read(QwenChatReader, broken))[0]
    mended = next(problem for problem in problems(rows) if problem.kind == "concurrent-writers")
    assert (mended.offset, mended.line) == (len(lines(prompt("u1"))), 2)
    assert log[mended.offset :].startswith(broken[:cut_at])


def test_the_rest_of_an_older_record_betrays_a_second_writer() -> None:
    older = line(prompt("u2") | {"timestamp": "2026-11-30T16:59:59.000Z"})
    rows = read(QwenChatReader, lines(prompt("u1")) + older[20:] + b"\n" + lines(prompt("u3")))
    assert uuids(rows) == ["u1", "u3"]
    assert sorted((one.kind, one.line) for one in problems(rows)) == [("concurrent-writers", 2), ("damaged", 2)]


def test_a_beginning_whose_rest_never_comes_is_damage() -> None:
    broken = line(prompt("u2"))[:60] + line(prompt("u3")) + b"\n"
    others = lines(*(prompt(f"v{number}") for number in range(40)))
    rows = read(QwenChatReader, broken + others + line(prompt("u2"))[60:] + b"\n" + lines(prompt("u9")))
    assert len(uuids(rows)) == 42
    assert [(one.kind, one.line) for one in problems(rows)] == [("damaged", 1), ("damaged", 42)]


def test_garbage_behind_a_record_is_told_and_the_record_kept() -> None:
    rows = read(QwenChatReader, line(prompt("u1")) + b"TRAILER\n" + lines(prompt("u2")))
    assert uuids(rows) == ["u1", "u2"]
    assert [(one.kind, one.offset, one.line) for one in problems(rows)] == [("trailing-garbage", len(line(prompt("u1"))), 1)]


@pytest.mark.parametrize("kept", [1, 40, 200])
def test_a_torn_tail_is_told_apart_from_damage(kept: int) -> None:
    rows = read(QwenChatReader, lines(prompt("u1")) + line(response("u2", call("c", command="echo one two three")))[:kept])
    assert uuids(rows) == ["u1"]
    (torn,) = problems(rows)
    assert (torn.kind, torn.offset, torn.line) == ("torn-tail", len(lines(prompt("u1"))), 2)


def test_json_of_another_shape_is_foreign_and_not_a_crash() -> None:
    strange = [{"v": 1, "promptId": "p", "state": "in_flight"}, {}, {"type": "summary", "summary": "s"}, {"type": 7}]
    rows = read(QwenChatReader, lines(prompt("u1"), *strange, prompt("u2")) + b'[1,2]\n"text"\n')
    assert uuids(rows) == ["u1", "u2"]
    assert kinds(rows) == ["foreign-record", "damaged"]
    assert problems(rows)[0].detail.startswith("4 lines")


def test_bytes_that_are_no_utf8_are_told_and_only_their_record_suffers() -> None:
    log = (
        lines(prompt("u1"))
        + line(response("u2", call("c", command="caf@"))).replace(b"@", b"\xe9")
        + b"\n"
        + lines(prompt("u3"))
    )
    rows = read(QwenChatReader, log)
    assert uuids(rows) == ["u1", "u2", "u3"]
    assert kinds(rows) == ["bad-utf8"]
    second = records(rows)[1]
    assert second.place.line == 2
    (made,) = second.calls  # type: ignore[union-attr]
    assert (made.args_state, made.fingerprint) == ("cut", None)


def test_a_line_of_many_megabytes_hides_nothing_behind_it() -> None:
    log = lines(prompt("u1"), prompt("u2", "x" * 12_000_000), prompt("u3"))
    rows = read(QwenChatReader, log, chunk=1 << 20)
    assert uuids(rows) == ["u1", "u2", "u3"]
    assert problems(rows) == []


def test_nesting_without_end_is_damage_and_not_a_crash() -> None:
    deep = line(prompt("u2")).replace(b'"go"', b"[" * 100_000 + b"]" * 100_000)
    rows = read(QwenChatReader, lines(prompt("u1")) + deep + b"\n" + lines(prompt("u3")))
    assert uuids(rows) == ["u1", "u3"]
    assert kinds(rows) == ["damaged"]


@given(data=st.binary(max_size=400), chunk=st.integers(1, 100))
def test_no_bytes_make_it_raise(data: bytes, chunk: int) -> None:
    assert read(QwenChatReader, data, chunk=chunk) == read(QwenChatReader, data)


@given(seed=st.integers(0, 1 << 30), chunk=st.integers(1, 3000))
def test_a_mutated_log_reads_the_same_in_any_chunks_and_keeps_its_sound_lines(seed: int, chunk: int) -> None:
    generator = random.Random(seed)
    damaged = bytearray(LOG)
    hit: set[int] = set()
    for _ in range(generator.randrange(1, 6)):
        at = generator.randrange(len(damaged))
        if damaged[at] == 0x0A:
            continue
        hit.add(LOG.count(b"\n", 0, at))
        damaged[at] = generator.choice(b'{}[]",:\\\x00\xff\x80 0e9u')
    whole = read(QwenChatReader, bytes(damaged))
    assert read(QwenChatReader, bytes(damaged), chunk=chunk) == whole
    sound = {number for number in range(LOG.count(b"\n")) if number not in hit}
    assert {one.place.line - 1 for one in records(whole)} >= sound


def test_records_are_of_the_types_that_the_lines_say() -> None:
    rows = read_chunks(QwenChatReader, [LOG], SOURCE)
    assert sum(isinstance(row, Prompt) for row in rows) == LOG.count(b'"type":"user"') == 1
    assert sum(isinstance(row, Result) for row in rows) == LOG.count(b'"type":"tool_result"') == 3


def test_a_line_of_64_megabytes_takes_memory_of_its_own_size_and_one_too_long_none() -> None:
    """In a process of its own, whose peak is measured: 64 MB in pieces of 4, then 200 MB that are passed over."""
    script = """
import resource
from ingest.readers.qwen_chat import QwenChatReader
from ingest.records import Problem
from tests.ingest.readers.reading import line, lines, prompt, stand_in

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024

reader = QwenChatReader("/logs/s.jsonl", stand_in)
seen, before = [], peak()
for uuid, megabytes in ("long", 64), ("too long", 200):
    start, end = line(prompt(uuid, "@")).split(b"@")
    long = [start, *[b"x" * (4 << 20)] * (megabytes // 4), end + b"\\n"]
    for piece in (lines(prompt("before")), *long, lines(prompt("behind"))):
        seen += [row.detail if isinstance(row, Problem) else row.uuid for row in reader.feed(piece)]
seen += [row.detail for row in reader.finish()]
print(*seen, sep="|")
print(peak() - before)
"""
    ran = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    seen, grown = ran.stdout.splitlines()
    detail = f"{200 * (1 << 20) + len(line(prompt('too long', ''))) + 1} bytes on one line, read are {LONGEST_LINE} at most"
    assert seen.split("|") == ["before", "long", "behind", "before", detail, "behind"]
    assert int(grown) < 200


def test_broken_lines_beyond_a_limit_are_not_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ingest.readers.lines._LONGEST_SALVAGED", 500)
    log = lines(prompt("u1")) + line(prompt("u2"))[:100] + line(prompt("u3", "x" * 500)) + b"\n" + lines(prompt("u4"))
    rows = read(QwenChatReader, log)
    assert uuids(rows) == ["u1", "u4"]
    (problem,) = problems(rows)
    assert (problem.kind, problem.line) == ("damaged", 2)
    assert "too long" in problem.detail
