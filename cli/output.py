"""How an answer leaves the program: JSON and CSV for programs, tables for people (table.py). Data goes to stdout and nothing
else does.

Text of a log never reaches a terminal raw: JSON escapes all that is not ASCII; tables and, on a terminal, CSV show control and
invisible characters as escapes.
"""

from __future__ import annotations

import csv
import io
import json
import math
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime, timedelta
from decimal import Decimal
from itertools import chain
from typing import TYPE_CHECKING, Literal

from analysis.inert_text import inert
from cli.layout import write_parts
from cli.table import Table
from cli.words import in_utc

if TYPE_CHECKING:
    from analysis.queries import Rows

Format = Literal["table", "json", "csv"]
FORMATS: tuple[Format, ...] = ("table", "json", "csv")

Row = Mapping[str, object]

_PLAIN = (str, int, bool, type(None))

_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


def write(form: Format, answer: Rows, headings: Mapping[str, str] | None = None, *, fold: Sequence[str] = ()) -> None:
    """An answer in its own columns, one table row a row."""
    rows = answer.dicts()
    if form == "json":
        write_json(rows)
    elif form == "csv":
        write_csv(answer.columns, rows)
    elif rows:
        write_parts([Table(answer.columns, rows, headings, fold=fold)])


def write_json(rows: Iterable[Row]) -> None:
    sys.stdout.writelines(json_texts([row] for row in rows))


def json_texts(pieces: Iterable[Iterable[Row]]) -> Iterator[str]:
    """One object a line: as quick as JSON gets (Python's own encoder is slow when it indents), and `grep` works on it.

    The list is closed at its end only: what was broken off is no JSON, and nobody takes it for all there is."""
    before = "["
    for piece in pieces:
        lines = []
        for row in piece:
            lines.append(f"{before}\n{json.dumps(_jsonable(row), allow_nan=False)}")
            before = ","
        yield "".join(lines)
    yield "\n]\n" if before == "," else "[]\n"


def write_csv(columns: Sequence[str], rows: Iterable[Row]) -> None:
    sys.stdout.writelines(csv_texts(columns, ([row] for row in rows)))


def csv_texts(columns: Sequence[str], pieces: Iterable[Iterable[Row]]) -> Iterator[str]:
    escape = sys.stdout.isatty()
    for piece in chain([[dict(zip(columns, columns, strict=True))]], pieces):
        text = io.StringIO()
        cells = ([_csv_cell(row[column], escape) for column in columns] for row in piece)
        csv.writer(text, lineterminator="\n").writerows(cells)
        yield text.getvalue()


def _jsonable(value: object) -> object:
    if type(value) in _PLAIN:
        return value
    if isinstance(value, Mapping):
        return {str(key): _jsonable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_jsonable(item) for item in value]
    if isinstance(value, datetime):
        return in_utc(value).isoformat() + "Z"
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, bytes):
        return value.hex()
    return value if isinstance(value, str | int) else str(value)


def _csv_cell(value: object, escape: bool) -> object:
    value = _jsonable(value)
    if isinstance(value, list | dict):
        return json.dumps(value)
    if not isinstance(value, str):
        return value
    text = inert(value) if escape else value
    return "'" + text if text.startswith(_FORMULA_STARTS) else text
