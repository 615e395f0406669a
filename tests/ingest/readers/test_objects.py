"""Concatenated objects: boundaries, damage, and the same result in any chunks."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.readers.base import Row, Sample
from ingest.readers.lenient_json import loads
from ingest.readers.objects import ObjectReader
from ingest.records import Event, Place, Problem
from tests.ingest.readers.reading import DATA, kinds, problems, read, records


class NumberedObjects(ObjectReader):
    """Takes objects with a member `n`: what the tests need of a format."""

    format = "numbered"
    client = "none"
    version = 1

    @classmethod
    def claims(cls, sample: Sample) -> bool:
        return False

    def rows(self, data: bytes, place: Place) -> Sequence[Row] | None:
        try:
            value = loads(data)
        except ValueError:
            return None
        if not isinstance(value, dict) or "n" not in value:
            return None
        return [Event(place=place, session_id=str(value["n"]), channel="telemetry", name="n")]


def numbers(rows: Sequence[Row]) -> list[str]:
    return [row.session_id for row in records(rows)]


def pretty(number: int, **members: object) -> bytes:
    return json.dumps({"n": number, **members}, indent=2).encode()


NESTED = {"inner": {"list": [{"a": '}\n{"'}, {}], "text": '\\"{'}}


@pytest.mark.parametrize("between", [b"\n", b"", b" ", b"\n\n", b"\r\n"])
@pytest.mark.parametrize("compact", [True, False])
def test_objects_are_found_however_they_are_printed(between: bytes, compact: bool) -> None:
    printed = [json.dumps({"n": n, **NESTED}, indent=None if compact else 2).encode() for n in range(5)]
    data = between.join(printed)
    for chunk in (None, 1, 13):
        rows = read(NumberedObjects, data, chunk=chunk)
        assert numbers(rows) == ["0", "1", "2", "3", "4"]
        assert problems(rows) == []
        for row in records(rows):
            text = data[row.place.offset : row.place.offset + row.place.length]
            assert json.loads(text)["n"] == int(row.session_id)
            assert row.place.line == data.count(b"\n", 0, row.place.offset) + 1


def test_a_cut_last_object_is_a_torn_tail() -> None:
    rows = read(NumberedObjects, pretty(0) + b"\n" + pretty(1) + b"\n" + pretty(2)[:-1])
    assert numbers(rows) == ["0", "1"]
    (torn,) = problems(rows)
    assert (torn.kind, torn.line) == ("torn-tail", 7)


def test_an_object_torn_by_another_process_costs_only_itself() -> None:
    torn = pretty(1, text="never finished")[:-12]
    for between in (b"\n", b""):
        rows = read(NumberedObjects, pretty(0) + b"\n" + torn + between + pretty(2) + b"\n" + pretty(3) + b"\n")
        assert numbers(rows) == ["0", "2", "3"]
        assert kinds(rows) == ["damaged"]


def test_nul_blocks_and_a_byte_order_mark() -> None:
    rows = read(NumberedObjects, b"\xef\xbb\xbf" + pretty(0) + b"\n" + b"\x00" * 40 + b"\n" + pretty(1) + b"\n")
    assert numbers(rows) == ["0", "1"]
    assert [problem.kind for problem in problems(rows)] == ["nul-block"]
    assert "40 of them NUL" in problems(rows)[0].detail


def test_foreign_objects_and_garbage_are_told_apart() -> None:
    rows = read(NumberedObjects, b'{"m": 1}\n' + pretty(0) + b"\nnoise\n" + pretty(1))
    assert numbers(rows) == ["0", "1"]
    assert kinds(rows) == ["foreign-record", "damaged"]


def test_objects_on_one_line_without_end_are_read_as_they_come() -> None:
    one = json.dumps({"n": 1, "text": "x" * 10_000}).encode()
    reader = NumberedObjects("/x", lambda tool, args: (b"", b""))
    seen = 0
    for _ in range(1000):
        seen += len(list(reader.feed(one)))
    assert seen > 500
    assert seen + len(list(reader.finish())) == 1000


def test_an_object_larger_than_the_patience_is_one_object() -> None:
    rows = read(NumberedObjects, pretty(0, text="x" * 9_000_000) + b"\n" + pretty(1), chunk=1 << 20)
    assert numbers(rows) == ["0", "1"]
    assert problems(rows) == []


@given(data=st.binary(max_size=300), chunk=st.integers(1, 60))
def test_no_bytes_make_it_raise(data: bytes, chunk: int) -> None:
    assert read(NumberedObjects, data, chunk=chunk) == read(NumberedObjects, data)


@given(seed=st.integers(0, 1 << 30), chunk=st.integers(1, 900))
def test_a_mutated_file_reads_the_same_in_any_chunks(seed: int, chunk: int) -> None:
    generator = random.Random(seed)
    data = bytearray(b"\n".join(pretty(n, **NESTED) for n in range(12)) + b"\n")
    for _ in range(generator.randrange(1, 5)):
        at = generator.randrange(len(data))
        data[at] = generator.choice(b'{}[]",:\\\x00\xff\n 1')
    whole = read(NumberedObjects, bytes(data))
    assert read(NumberedObjects, bytes(data), chunk=chunk) == whole


def test_recorded_telemetry_has_as_many_objects_as_a_plain_decoder_finds() -> None:
    text = (DATA / "telemetry.log").read_text()
    at, found = 0, 0
    while at < len(text.rstrip()):
        _, at = json.JSONDecoder().raw_decode(text, at)
        at += len(text[at:]) - len(text[at:].lstrip())
        found += 1
    assert found == 14
    assert not any(isinstance(row, Problem) and row.kind != "foreign-record" for row in read(NumberedObjects, text.encode()))
    assert len(problems(read(NumberedObjects, text.encode()))) == found


@pytest.mark.parametrize("rest", [b"\n" + pretty(2) + b"\n", b""])
def test_an_object_too_long_is_passed_over_and_told_with_its_size(monkeypatch: pytest.MonkeyPatch, rest: bytes) -> None:
    monkeypatch.setattr("ingest.readers.objects._PATIENCE", 100)
    monkeypatch.setattr("ingest.readers.objects.LONGEST_OBJECT", 1000)
    first, long = pretty(0) + b"\n", pretty(1, texts=["x" * 50] * 100)
    rows = read(NumberedObjects, first + long + rest, chunk=64)
    assert numbers(rows) == (["0", "2"] if rest else ["0"])
    (problem,) = problems(rows)
    assert (problem.kind, problem.offset, problem.line) == ("too-long", len(first), 4)
    assert problem.detail.startswith(f"{len(long) + bool(rest)} bytes")
    assert [row.place.line for row in records(rows)] == [1, *([4 + long.count(b"\n") + 1] if rest else [])]
