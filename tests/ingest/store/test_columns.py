from __future__ import annotations

import subprocess
import sys

import pytest
from msgspec import Struct

from ingest.store.columns import arrow, column, fields, record_batch


class Row(Struct):
    text: str
    ts: int | None
    started_at: int
    number: int | None
    part: float
    flag: bool
    raw: bytes | None
    evidence: list[str]


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
    }


def test_a_lone_surrogate_is_spelled_out() -> None:
    made = column(["plain", "a\ud800b", None], "tool", arrow().string())
    assert made.to_pylist() == ["plain", "a\\ud800b", None]


def test_surrogates_within_lists_are_spelled_out() -> None:
    assert column([["\udc80", "a"]], "evidence", arrow().list_(arrow().string())).to_pylist() == [["\\udc80", "a"]]


def test_a_number_that_no_column_holds_is_told_with_its_field_and_its_value() -> None:
    row = Row("a", None, 1, 10**30, 0.5, True, None, [])
    with pytest.raises(ValueError, match=r"Row\.number fits no column: 1000000000000000000000000000000"):
        record_batch([row])


@pytest.mark.parametrize("text", ["a\x00b", "\u2028", "😀", ""])
def test_odd_but_valid_text_is_kept_as_it_is(text: str) -> None:
    assert column([text], "tool", arrow().string()).to_pylist() == [text]


def test_making_columns_does_not_import_pandas() -> None:
    # pyarrow would, at the first list it converts, and pay a second for it in every worker process.
    program = (
        "import sys; from ingest.store.columns import arrow, column\n"
        "column(['a'], 'x', arrow().string())\n"
        "assert 'pyarrow' in sys.modules and 'pandas' not in sys.modules, sorted(sys.modules)\n"
        "import pandas\n"  # and whoever wants it afterwards still gets it
        "assert arrow().table({'x': [1]}).to_pandas().x.tolist() == [1]"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
