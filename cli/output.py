"""How an answer leaves the program: JSON and CSV for programs, tables for people. Data goes to stdout and nothing else does.

Text of a log is never markup here and never reaches a terminal raw: JSON escapes all that is not ASCII, tables and, on a
terminal, CSV show control and invisible characters as escapes. A table that is piped is neither coloured nor cut nor wrapped.
"""

from __future__ import annotations

import csv
import io
import json
import math
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from itertools import chain
from typing import TYPE_CHECKING, Literal

from analysis.inert_text import inert

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.table import Table
    from rich.text import Text

    from analysis.queries import Rows

Format = Literal["table", "json", "csv"]
FORMATS: tuple[Format, ...] = ("table", "json", "csv")

Row = Mapping[str, object]

_WIDER_THAN_ANY_CELL = 1_000_000

_PLAIN = (str, int, bool, type(None))

_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


def write(form: Format, answer: Rows, headings: Mapping[str, str] | None = None) -> None:
    """An answer in its own columns, one table row a row."""
    rows = answer.dicts()
    if form == "json":
        write_json(rows)
    elif form == "csv":
        write_csv(answer.columns, rows)
    elif rows:
        write_table([plain_table(answer.columns, rows, headings)])


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


def write_table(parts: Iterable[RenderableType]) -> None:
    from rich.console import Console

    console = Console(file=sys.stdout, highlight=False, markup=False, emoji=False)
    if console.is_terminal:
        for part in parts:
            console.print(part)
        return
    console = Console(file=io.StringIO(), width=_WIDER_THAN_ANY_CELL, highlight=False, markup=False, emoji=False)
    for part in parts:
        sys.stdout.writelines(f"{line}\n" for line in _plain_lines(console, part))


def _plain_lines(console: Console, part: RenderableType) -> list[str]:
    """As wide as the part is, without the blanks by which Rich fills each cell. Texts and details go round Rich: there may
    be ten thousands of them."""
    from rich.text import Text

    if isinstance(part, Text):
        return [part.plain]
    if isinstance(part, Details):
        return part.plain_lines()
    with console.capture() as captured:
        console.print(part)
    return [line.rstrip() for line in captured.get().splitlines()]


def plain_table(columns: Sequence[str], rows: Iterable[Row], headings: Mapping[str, str] | None = None) -> Table:
    """One row a line, numbers to the right."""
    rows = list(rows)
    table = new_table()
    for column in columns:
        numbers = any(_is_number(row[column]) for row in rows)
        table.add_column(safe((headings or {}).get(column, column)), justify="right" if numbers else "left")
    for row in rows:
        table.add_row(*[safe(row[column]) for column in columns])
    return table


def new_table() -> Table:
    from rich import box
    from rich.table import Table

    return Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold", show_edge=False)


def safe(value: object, style: str = "") -> Text:
    """A cell of any value: rich markup in it means nothing, and characters that a terminal acts on are shown as escapes."""
    from rich.text import Text

    return Text(inert(words(value)), style=style, overflow="fold")


def aligned(rows: Sequence[Sequence[object]]) -> list[Text]:
    """Lines whose cells stand in columns, for lists that have further lines between them."""
    from rich.cells import cell_len

    cells = [[inert(words(value)) for value in row] for row in rows]
    widths = [max(map(cell_len, column)) for column in zip(*cells, strict=True)]
    return [
        safe("  ".join(cell + " " * (width - cell_len(cell)) for cell, width in zip(row, widths, strict=True)).rstrip())
        for row in cells
    ]


class Details:
    """Indented `name  value` lines below a line of `aligned`; on a terminal a long value goes on under its own beginning."""

    def __init__(self, named: Mapping[str, object], indent: int = 2) -> None:
        self._named = {name: inert(words(value)) for name, value in named.items()}
        self._indent = indent

    def plain_lines(self) -> list[str]:
        width = max(map(len, self._named), default=0)
        return [f"{'':{self._indent}}{name:{width}}  {value}" for name, value in self._named.items()]

    def __rich__(self) -> Table:
        from rich.table import Table

        grid = Table.grid(padding=(0, 2, 0, 0))
        grid.add_column(min_width=self._indent - 2)
        grid.add_column(no_wrap=True)
        grid.add_column()
        for name, value in self._named.items():
            grid.add_row("", safe(name, "dim"), safe(value))
        return grid


def words(value: object) -> str:
    """A value as a person reads it."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, datetime):
        return _in_utc(value).strftime("%Y-%m-%d %H:%M:%SZ")
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, list | tuple):
        return ", ".join(words(item) for item in value)
    return str(value.hex() if isinstance(value, bytes) else value)


def _in_utc(moment: datetime) -> datetime:
    """Without a zone, as the store's own are."""
    return moment.astimezone(UTC).replace(tzinfo=None) if moment.tzinfo else moment


def _is_number(value: object) -> bool:
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool)


def _jsonable(value: object) -> object:
    if type(value) in _PLAIN:
        return value
    if isinstance(value, Mapping):
        return {str(key): _jsonable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_jsonable(item) for item in value]
    if isinstance(value, datetime):
        return _in_utc(value).isoformat() + "Z"
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
