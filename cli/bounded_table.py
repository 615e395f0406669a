"""As much of a long answer as a table can hold: it needs all its rows before the first line, since they say how wide it is.

What it leaves out it says in its last line, with the formats that leave out nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from cli.words import words

MOST_ROWS = 10_000
MOST_CHARACTERS = 4_000_000
"""Of all cells together."""
LONGEST_CELL = 10_000


class BoundedTable:
    def __init__(self, columns: Sequence[str]) -> None:
        self._columns = columns
        self.rows: list[dict[str, object]] = []
        self._characters = 0
        self._is_full = False
        self._shortened = 0

    def taken(self, pieces: Iterable[Iterable[Sequence[object]]]) -> Iterator[None]:
        """A step a piece, until the table is full."""
        for piece in pieces:
            for row in piece:
                if self._is_full or len(self.rows) >= MOST_ROWS:
                    self._is_full = True
                    return
                self.rows.append(dict(zip(self._columns, map(self._cell, row), strict=True)))
                self._is_full = self._characters > MOST_CHARACTERS
            yield

    @property
    def left_out(self) -> str | None:
        parts = []
        if self._is_full:
            parts.append(f"the first {len(self.rows):,} rows; there are more")
        if self._shortened:
            parts.append(f"{self._shortened:,} values cut to {LONGEST_CELL:,} characters")
        return f"A table holds only so much: {', '.join(parts)}. --format csv or json gives all." if parts else None

    def _cell(self, value: object) -> object:
        text = words(value)
        if len(text) > LONGEST_CELL:
            self._shortened += 1
            value = text = f"{text[:LONGEST_CELL]}…"
        self._characters += len(text)
        return value
