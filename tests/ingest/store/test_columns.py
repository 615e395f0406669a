from __future__ import annotations

import subprocess
import sys

import pytest
from msgspec import Struct

from ingest.records import Event, Result
from ingest.store.columns import arrow, column, fields


def nothing_refused(index: int, name: str, value: object) -> None:
    raise AssertionError((index, name, value))


class Row(Struct):
    text: str
    ts: int | None
    started_at: int
    number: int | None
    part: float
    flag: bool
    raw: bytes | None
    evidence: list[str]
    attributes: dict[str, str]


def test_field_types_become_column_types() -> None:
    assert {name: str(type_) for name, type_ in fields(Row).items()} == {
        "text": "string",
        "ts": "timestamp[us]",
        "started_at": "timestamp[us]",
        "number": "int64",
        "part": "double",
        "flag": "bool",
        "raw": "binary",
        "evidence": "list<item: string>",
        "attributes": "map<string, string>",
    }


def test_a_field_named_like_a_type_does_not_hide_the_type() -> None:
    # Result has a field `bytes`, and its digest is of the type of that name.
    assert str(fields(Result)["digest"]) == "binary"
    assert str(fields(Result)["bytes"]) == "int64"


def test_a_field_of_structs_has_no_column() -> None:
    assert "place" not in fields(Event)


def test_a_lone_surrogate_is_spelled_out() -> None:
    made = column(["plain", "a\ud800b", None], "tool", arrow().string(), nothing_refused)
    assert made.to_pylist() == ["plain", "a\\ud800b", None]


def test_surrogates_within_lists_and_maps_are_spelled_out() -> None:
    pa = arrow()
    lists = column([["\udc80"]], "evidence", pa.list_(pa.string()), nothing_refused)
    maps = column([{"\udc80": "\udc81"}], "attributes", pa.map_(pa.string(), pa.string()), nothing_refused)
    assert lists.to_pylist() == [["\\udc80"]]
    assert maps.to_pylist() == [[("\\udc80", "\\udc81")]]


def test_a_number_that_no_column_holds_is_left_empty_and_told() -> None:
    refused: list[tuple[int, str, object]] = []
    made = column([1, 10**30, 3], "tokens_in", arrow().int64(), lambda *said: refused.append(said))
    assert made.to_pylist() == [1, None, 3]
    assert refused == [(1, "tokens_in", 10**30)]


@pytest.mark.parametrize("text", ["a\x00b", "\u2028", "😀", ""])
def test_odd_but_valid_text_is_kept_as_it_is(text: str) -> None:
    assert column([text], "tool", arrow().string(), nothing_refused).to_pylist() == [text]


def test_making_columns_does_not_import_pandas() -> None:
    # pyarrow would, at the first list it converts, and pay a second for it in every worker process.
    program = (
        "import sys; from ingest.store.columns import arrow, column\n"
        "column(['a'], 'x', arrow().string(), print)\n"
        "assert 'pyarrow' in sys.modules and 'pandas' not in sys.modules, sorted(sys.modules)\n"
        "import pandas\n"  # and whoever wants it afterwards still gets it
        "assert arrow().table({'x': [1]}).to_pandas().x.tolist() == [1]"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
