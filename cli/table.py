"""Rows in columns, numbers to the right; where the terminal is too narrow for them, the least loss first.

One step after the other is gone until it fits: gaps shrink and headings break; ids are cut as far as they still differ, and one
that is much longer than the others gets a line of its own; a column that says the same in all rows says it once, above them;
columns go below their row, first those that the table names as the least telling, then the widest texts, then numbers. Nothing
is lost by any of them, but for an empty cell. A pipe gets it whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from analysis.inert_text import inert
from cli.layout import GAP, Details, Line, Paragraph, cell_width, padded, wrapped
from cli.words import is_number, words

Row = Mapping[str, object]

WIDE_GAP = "   "
NOTHING = ("-", "")
ROWS_ALIKE = 3
"""Fewer than that may well be alike."""
MOST_HEADING_LINES = 4
_MANY_ROWS = 10
_LONG_IDS = 0.1
"""Share of the rows in which an id may be longer than its column."""


@dataclass(frozen=True)
class _Fit:
    shown: tuple[int, ...]
    below: tuple[int, ...] = ()
    same: tuple[int, ...] = ()
    gap: str = WIDE_GAP
    heading_lines: int = 1
    is_short: bool = False


class Table:
    """fold: columns that may go below their row, the least telling first. short: what cuts the ids of a column."""

    def __init__(
        self,
        columns: Sequence[str],
        rows: Iterable[Row],
        headings: Mapping[str, str] | None = None,
        *,
        fold: Sequence[str] = (),
        short: Mapping[str, Callable[[str], str]] | None = None,
    ) -> None:
        rows = list(rows)
        self._headings = [inert((headings or {}).get(column, column)) for column in columns]
        self._cells = [[inert(words(row[column])) for column in columns] for row in rows]
        self._numbers = [any(is_number(row[column]) for row in rows) for column in columns]
        self._fold = [columns.index(name) for name in fold if name in columns]
        self._cuts = {columns.index(name): cut for name, cut in (short or {}).items() if name in columns}

    def lines(self, width: int | None) -> Iterator[Line]:
        fit = self._fitting(width)
        widths = self._widths(fit)
        if width is not None and len(widths) == 1:
            widths = [min(widths[0], width)]
        if told := [f"{self._headings[at]} {self._cells[0][at]}" for at in fit.same if self._cells[0][at] not in NOTHING]:
            yield from Paragraph(f"In all rows: {'; '.join(told)}", "dim").lines(width)
        yield from self._head(fit, widths)
        for row in self._rows(fit):
            cells = [row[at] for at in fit.shown]
            for at, (cell, size) in enumerate(zip(cells, widths, strict=True)):
                if cell_width(cell) > size:
                    before = self._row([*cells[:at], *[""] * (len(cells) - at)], fit, widths)
                    yield from ([(text, "")] for text in wrapped(f"{before:{_start(at, widths, fit)}}{cell}", width))
                    cells[: at + 1] = [""] * (at + 1)
            yield [(self._row(cells, fit, widths), "")]
            yield from Details({self._headings[at]: row[at] for at in fit.below if row[at] not in NOTHING}).lines(width)

    def _head(self, fit: _Fit, widths: Sequence[int]) -> Iterator[Line]:
        broken = [wrapped(self._headings[at], size) for at, size in zip(fit.shown, widths, strict=True)]
        most = max(map(len, broken))
        for at in range(most):
            texts = [lines[at - most + len(lines)] if at >= most - len(lines) else "" for lines in broken]
            yield [(self._row(texts, fit, widths), "bold")]
        yield [("─" * _total(widths, fit), "")]

    def _row(self, cells: Sequence[str], fit: _Fit, widths: Sequence[int]) -> str:
        placed = zip(cells, widths, fit.shown, strict=True)
        return fit.gap.join(padded(cell, size, right=self._numbers[at]) for cell, size, at in placed).rstrip()

    def _rows(self, fit: _Fit) -> Iterator[Sequence[str]]:
        if not fit.is_short:
            return iter(self._cells)
        return ([self._cuts[at](cell) if at in self._cuts else cell for at, cell in enumerate(row)] for row in self._cells)

    def _fitting(self, width: int | None) -> _Fit:
        for fit in self._steps():
            if width is None or _total(self._widths(fit), fit) <= width:
                break
        return fit

    def _steps(self) -> Iterator[_Fit]:
        fit = _Fit(tuple(range(len(self._headings))))
        yield fit
        yield from _with_broken_headings(fit := replace(fit, gap=GAP))
        yield from _with_broken_headings(fit := replace(fit, is_short=True))
        same = tuple(at for at in fit.shown if len({row[at] for row in self._cells}) == 1)
        if len(self._cells) >= ROWS_ALIKE and len(same) < len(fit.shown):
            fit = replace(fit, shown=tuple(at for at in fit.shown if at not in same), same=same)
            yield from _with_broken_headings(fit)
        size_of = dict(zip(fit.shown, self._widths(fit), strict=True))
        texts = sorted((at for at in fit.shown if not self._numbers[at]), key=lambda at: -size_of[at])
        for at in dict.fromkeys([*self._fold, *texts, *reversed(fit.shown)]):
            if at in fit.shown[1:]:
                shown = tuple(other for other in fit.shown if other != at)
                fit = replace(fit, shown=shown, below=tuple(sorted((*fit.below, at))))
                yield from _with_broken_headings(fit)

    def _widths(self, fit: _Fit) -> list[int]:
        sizes: dict[int, list[int]] = {at: [] for at in fit.shown}
        for row in self._rows(fit):
            for at in fit.shown:
                sizes[at].append(cell_width(row[at]))
        if fit.is_short and len(self._cells) >= _MANY_ROWS:
            for at in self._cuts.keys() & sizes.keys():
                sizes[at] = sorted(sizes[at])[: -int(len(sizes[at]) * _LONG_IDS)]
        return [max([*sizes[at], _heading_width(self._headings[at], fit.heading_lines)]) for at in fit.shown]


def _total(widths: Sequence[int], fit: _Fit) -> int:
    return sum(widths) + len(fit.gap) * (len(widths) - 1)


def _start(at: int, widths: Sequence[int], fit: _Fit) -> int:
    return sum(widths[:at]) + len(fit.gap) * at


def _with_broken_headings(fit: _Fit) -> Iterator[_Fit]:
    return (replace(fit, heading_lines=lines) for lines in range(1, MOST_HEADING_LINES + 1))


def _heading_width(heading: str, lines: int) -> int:
    """The least that takes no more lines, and breaks no word."""
    least = max(map(cell_width, heading.split(" ")))
    sizes = range(least, cell_width(heading))
    return next((size for size in sizes if len(wrapped(heading, size)) <= lines), cell_width(heading))
