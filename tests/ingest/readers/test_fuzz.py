"""Whatever the bytes, every reader ends, says the same in any chunks, and points at places that are there.

`LOOPSCOPE_FUZZ=20000 pytest tests/ingest/readers/test_fuzz.py` for a longer search.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.readers.base import Reader, Row
from ingest.records import Problem
from ingest.sources import HEAD_BYTES, READERS, recognise
from tests.ingest.readers.reading import DATA, read, read_chunks
from tests.support.examples import EXAMPLES

RECORDINGS = Path(__file__).parents[3] / "data"


def _recorded() -> dict[type[Reader], list[bytes]]:
    files: dict[type[Reader], list[bytes]] = {}
    for path in sorted([*DATA.rglob("*"), *RECORDINGS.rglob("*")]):
        if path.is_file() and path.suffix not in (".md", ".py"):
            data = path.read_bytes()
            reader = recognise(path, data[:HEAD_BYTES])
            if reader is not None and len(data) < 60_000:
                files.setdefault(reader, []).append(data)
    return files


RECORDED = _recorded()

TOKENS = [
    *(
        b"{",
        b"}",
        b"[",
        b"]",
        b'"',
        b",",
        b":",
        b"\\",
        b"-",
        b"true",
        b"null",
        b"1e999",
        b"0.1e-7",
        b"\n",
        b"\r\n",
        b"\n{",
        b"}\n",
    ),
    *(b"\x00", b"\x00" * 40, b"\xff", b"\xe9", b"\xef\xbb\xbf", b"\xed\xa0\x80", "\u2028".encode(), b"\x1f\x8b\x08"),
    *(b'"\\ud800"', b'"\\udc00', b"\\u0000", b"9" * 5000, b"[" * 3000, b'{"a":' * 2000, b'{"uuid":', b'{\n  "'),
    b'{"uuid":"z","parentUuid":null,"type":"user","message":"m"}',
]

of_each_reader = pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.format)


@st.composite
def mutated(draw: st.DrawFn, reader: type[Reader]) -> bytes:
    data = bytearray(draw(st.sampled_from(RECORDED[reader])))
    for _ in range(draw(st.integers(1, 8))):
        at = draw(st.integers(0, len(data)))
        length = draw(st.integers(0, 300))
        match draw(st.integers(0, 3)):
            case 0:
                data[at:at] = draw(st.sampled_from(TOKENS))
            case 1:
                del data[at : at + length]
            case 2:
                token = draw(st.sampled_from(TOKENS))
                data[at : at + len(token)] = token
            case 3:
                start = draw(st.integers(0, len(data)))
                data[at:at] = data[start : start + length]
    return bytes(data)


@st.composite
def chunks(draw: st.DrawFn, data: bytes) -> list[bytes]:
    ends = sorted(draw(st.lists(st.integers(0, len(data)), max_size=12)))
    return [data[start:end] for start, end in zip([0, *ends], [*ends, len(data)], strict=True)]


def check(reader: type[Reader], data: bytes, pieces: list[bytes]) -> None:
    source = "/logs/a-session.jsonl"
    whole = read(reader, data, source)
    in_pieces = read_chunks(reader, pieces, source)
    assert in_pieces == whole
    assert [_place(row) for row in in_pieces] == [_place(row) for row in whole]
    for row in whole:
        offset, line, length = _place(row)
        assert 0 <= offset <= offset + length <= len(data)
        assert line == data.count(b"\n", 0, offset) + 1
        for text in _texts(row):
            text.encode()


def _place(row: Row) -> tuple[int, int, int]:
    return (row.offset, row.line, 0) if isinstance(row, Problem) else (row.place.offset, row.place.line, row.place.length)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for member in value.items():
            yield from _texts(member)
    elif isinstance(value, tuple):
        for item in value:
            yield from _texts(item)
    elif hasattr(value, "__struct_fields__"):
        for name in value.__struct_fields__:
            yield from _texts(getattr(value, name))


def test_there_is_a_recorded_file_of_each_format() -> None:
    assert set(RECORDED) == set(READERS)


@of_each_reader
@settings(max_examples=EXAMPLES, deadline=None)
@given(data=st.data())
def test_a_recorded_file_with_its_bytes_changed(reader: type[Reader], data: st.DataObject) -> None:
    log = data.draw(mutated(reader))
    check(reader, log, data.draw(chunks(log)))


@of_each_reader
@settings(max_examples=EXAMPLES, deadline=None)
@given(data=st.data())
def test_any_bytes(reader: type[Reader], data: st.DataObject) -> None:
    log = b"".join(data.draw(st.lists(st.binary(max_size=30) | st.sampled_from(TOKENS), max_size=40)))
    check(reader, log, data.draw(chunks(log)))


@settings(max_examples=EXAMPLES, deadline=None)
@given(data=st.data())
def test_a_file_is_recognised_or_not_but_never_fails(data: st.DataObject) -> None:
    reader = data.draw(st.sampled_from(READERS))
    log = data.draw(mutated(reader) | st.binary(max_size=2000))
    found = recognise(Path("/logs/x.jsonl"), log[:HEAD_BYTES])
    assert found is None or found in READERS
