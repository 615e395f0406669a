"""What an answer for people is made of: parts that know their lines, for a terminal of some width and for a pipe, where nothing
is cut, wrapped, coloured or left out.

Text of a log is never markup here, and characters that a terminal acts on are shown as escapes.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Protocol

from analysis.inert_text import inert
from cli.words import words

Line = Sequence[tuple[str, str]]
"""Pieces of text, each with its style."""

GAP = "  "
INDENT = 4
"""Of what is left of a line that is longer than the terminal is wide."""
LEAST_ROOM = 24
"""Characters in which a long text still reads well; with less it begins on a line of its own."""


class Part(Protocol):
    def lines(self, width: int | None) -> Iterable[Line]:
        """width: of the terminal; None where there is none."""
        ...


def write_parts(parts: Iterable[Part]) -> None:
    from rich.console import Console
    from rich.text import Text

    console = Console(file=sys.stdout, highlight=False, markup=False, emoji=False)
    if console.is_terminal:
        for line in chain.from_iterable(part.lines(console.width) for part in parts):
            console.print(Text.assemble(*line), soft_wrap=True)
    else:
        for line in chain.from_iterable(part.lines(None) for part in parts):
            sys.stdout.write("".join(text for text, _ in line).rstrip() + "\n")


class Paragraph:
    """lead: what it begins with, in a style of its own."""

    def __init__(self, value: object, style: str = "", *, lead: str = "", lead_style: str = "") -> None:
        self._lead, self._lead_style = inert(lead), lead_style
        self._rest, self._style = inert(words(value)), style

    def lines(self, width: int | None) -> Iterator[Line]:
        first, *others = wrapped(self._lead + self._rest, width)
        yield [(first[: len(self._lead)], self._lead_style), (first[len(self._lead) :], self._style)]
        yield from ([(line, self._style)] for line in others)


class Cells:
    """A line whose cells stand under those of the others that were made with it. What finds no room goes on below, indented.

    shorter: the same in fewer characters, for a terminal without room for all."""

    def __init__(self, cells: Sequence[str], widths: Sequence[int], shorter: Cells | None = None) -> None:
        self._cells = [padded(cell, width) for cell, width in zip(cells, widths, strict=True)]
        self._shorter = shorter
        self.style = ""

    @property
    def plain(self) -> str:
        return GAP.join(self._cells).rstrip()

    def lines(self, width: int | None) -> Iterator[Line]:
        return ([(line, self.style)] for line in self._fitted(width))

    def _fitted(self, width: int | None) -> Iterator[str]:
        if width is None or cell_width(self.plain) <= width:
            yield self.plain
            return
        if self._shorter is not None:
            yield from self._shorter._fitted(width)
            return
        line = ""
        for number, cell in enumerate(self._cells, 1):
            start = line + GAP if line else ""
            room = width - cell_width(start)
            if cell_width(cell.rstrip()) > room and line and (number < len(self._cells) or room < LEAST_ROOM):
                yield line.rstrip()
                start, room = " " * INDENT, width - INDENT
            if cell_width(cell.rstrip()) > room:
                *full, cell = wrapped(cell.rstrip(), room)
                for text in full:
                    yield start + text
                    start = " " * cell_width(start)
            line = start + cell
        yield line.rstrip()


def aligned(rows: Sequence[Sequence[object]], shorter: Sequence[Sequence[object]] | None = None) -> list[Cells]:
    """Lines whose cells stand in columns, for lists that have further lines between them."""
    cells = [[inert(words(value)) for value in row] for row in rows]
    widths = [max(map(cell_width, column)) for column in zip(*cells, strict=True)]
    others = aligned(shorter) if shorter is not None else [None] * len(rows)
    return [Cells(row, widths, other) for row, other in zip(cells, others, strict=True)]


class Details:
    """Indented `name  value` lines below a line of `aligned`; on a terminal a long value goes on under its own beginning."""

    def __init__(self, named: Mapping[str, object], indent: int = 2) -> None:
        self._named = {name: inert(words(value)) for name, value in named.items()}
        self._indent = " " * indent

    def lines(self, width: int | None) -> Iterator[Line]:
        sizes = {name: cell_width(name) for name in self._named}
        longest = max((size for size in sizes.values() if width is None or size <= width // 2), default=0)
        for name, value in self._named.items():
            if sizes[name] > longest:
                yield from ([(line, "dim")] for line in wrapped(self._indent + name, width))
                name = ""
            before = f"{self._indent}{padded(name, longest or INDENT)}{GAP}"
            first, *others = wrapped(value, width and max(width - cell_width(before), LEAST_ROOM))
            yield [(before, "dim"), (first, "")]
            yield from ([(" " * cell_width(before) + line, "")] for line in others)


def wrapped(text: str, width: int | None) -> list[str]:
    """At blanks; within a word only where it is longer than a line."""
    from rich.cells import chop_cells

    if width is None or cell_width(text) <= width:
        return [text]
    lines = []
    line, is_begun = "", False
    for word in text.split(" "):
        longer = f"{line} {word}" if is_begun else word
        if cell_width(longer) > width:
            if is_begun:
                lines.append(line)
            *full, longer = chop_cells(word, width) or [""]
            lines.extend(full)
        line, is_begun = longer, True
    return [*lines, line]


def padded(text: str, width: int, *, right: bool = False) -> str:
    blanks = " " * (width - cell_width(text))
    return blanks + text if right else text + blanks


def cell_width(text: str) -> int:
    """Columns that a terminal takes for it."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)
