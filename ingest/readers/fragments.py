"""Pieces of broken lines: mended where they were one record, told as one damage where they lie together.

Two ways of breaking leave every byte of a record in the file. A raw newline inside a string spreads it over several lines; and
of two programs that write one file, one puts its record into the middle of the other's. Both are mended by joining the pieces,
and told all the same. Whatever else is broken stays damage, and neighbouring lines of it are one Problem.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from ingest.readers.lenient_json import loads
from ingest.records import Problem

_MOST_PIECES = 100
_MOST_BYTES = 1 << 20
"""More is not searched for a record: hostile input must not cost a search per line."""
_PATIENCE = 16
"""Lines of another program within which the rest of a broken record has to come."""
_TOLD_TOGETHER = ("damaged", "foreign-record")
"""A thousand lines of garbage are one Problem; a block of NUL bytes is one by itself."""


class Piece(Struct, frozen=True, gc=False):
    """Of a line, what is no record: all the bytes since the last record or the line's beginning."""

    data: bytes
    offset: int
    line: int
    problem: Problem | None
    """What is told of it where it cannot be mended; None for a blank line."""

    @property
    def starts(self) -> bool:
        return self.data.lstrip().startswith(b"{")


class Mended(Struct, frozen=True, gc=False):
    data: bytes
    """As it was written, where it was; with the newlines that broke it, where those did."""
    value: dict[str, Any]
    offset: int
    length: int
    """From its first byte to its last, whatever stands between."""
    problem: Problem


class Fragments:
    """What is broken since the last record, and before that record a beginning whose rest may still come."""

    def __init__(self) -> None:
        self._damage: tuple[Problem, int] | None = None
        """The first of neighbouring faults, and the line of the last."""
        self._pieces: list[Piece] = []
        """Lines that may be one record, behind `_damage`."""
        self._size = 0
        self._head: Piece | None = None

    @property
    def waiting(self) -> bool:
        """Whether anything is kept back here."""
        return self._damage is not None or bool(self._pieces) or self._head is not None

    def add(self, piece: Piece) -> Iterator[Problem]:
        self._size += len(piece.data)
        if piece.starts or len(self._pieces) >= _MOST_PIECES or self._size > _MOST_BYTES:
            yield from self._give_up_pieces()
        if (piece.starts or self._pieces) and len(piece.data) <= _MOST_BYTES:
            self._pieces.append(piece)
        elif piece.problem is not None:
            yield from self.fault(piece.problem)

    def mend(self, last: Piece) -> Mended | None:
        """The record that this piece completes; its pieces are then no damage any more."""
        if not last.data.rstrip().endswith(b"}"):
            return None
        if self._pieces:
            pieces, between, kind = [*self._pieces, last], b"\n", "repaired"
            detail = f"one record on {len(pieces)} lines: raw newlines in it"
        elif self._head is not None:
            pieces, between, kind = [self._head, last], b"", "concurrent-writers"
            detail = "a record with another one in its middle: two programs wrote this file at once"
        else:
            return None
        data = between.join(piece.data for piece in pieces)
        try:
            value = loads(data)
        except ValueError:
            return None
        if not isinstance(value, dict):
            return None
        if self._pieces:
            self._pieces, self._size = [], 0
        else:
            self._head = None
        first = pieces[0]
        length = last.offset + len(last.data) - first.offset
        return Mended(data, value, first.offset, length, Problem(kind, f"{length} bytes: {detail}", first.offset, first.line))

    def fault(self, problem: Problem) -> Iterator[Problem]:
        """Something that is wrong and cannot be mended."""
        yield from self._give_up_pieces()
        if problem.kind in _TOLD_TOGETHER:
            yield from self._tell(problem)
        else:
            yield from self._told_damage()
            yield problem

    def record(self, line: int) -> Iterator[Problem]:
        """A sound record came on this line."""
        if self._head is not None and line - self._head.line > _PATIENCE:
            yield from self._give_up_head()
        if self._head is None and len(self._pieces) == 1 and self._pieces[0].line == line:
            # The record stands in the middle of a broken one.
            self._head = self._pieces.pop()
        yield from self._told()

    def end(self) -> Iterator[Problem]:
        yield from self._give_up_head()
        yield from self._told()

    def _give_up_head(self) -> Iterator[Problem]:
        head, self._head = self._head, None
        if head is not None and head.problem is not None:
            yield head.problem

    def _give_up_pieces(self) -> Iterator[Problem]:
        pieces, self._pieces, self._size = self._pieces, [], 0
        for piece in pieces:
            if piece.problem is not None:
                yield from self._tell(piece.problem)

    def _tell(self, problem: Problem) -> Iterator[Problem]:
        if self._damage is not None:
            first, last_line = self._damage
            if first.kind == problem.kind and problem.line - last_line <= 1:
                self._damage = (first, problem.line)
                return
        yield from self._told_damage()
        self._damage = (problem, problem.line)

    def _told(self) -> Iterator[Problem]:
        yield from self._give_up_pieces()
        yield from self._told_damage()

    def _told_damage(self) -> Iterator[Problem]:
        if self._damage is None:
            return
        (first, last_line), self._damage = self._damage, None
        lines = last_line - first.line + 1
        detail = first.detail if lines == 1 else f"{lines} lines; the first: {first.detail}"
        yield Problem(first.kind, detail, first.offset, first.line)
