"""Sources of one JSON record a line, decoded straight into typed records.

Whole blocks of lines go through one `decode_lines` call: the fastest way from bytes to fields that Python has, and it skips
what the type does not name. It tells no offsets, so the line ends are found beside it, and the block counts as read only if
every line begins with `{`, ends with `}` and gave one record: `}` newline `{` stands in sound JSON between two top-level values
only, so records and lines then match one to one. Any other block is read line by line.

Lines end at b"\\n" alone: U+2028 and U+0085 stand raw inside strings, and str.splitlines would cut there.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, Generic, TypeVar

import msgspec

from ingest.readers.base import Earlier, FingerprintFunction, Position, Reader, Row
from ingest.readers.salvage import Found, salvage
from ingest.records import Place, Problem

Wire = TypeVar("Wire")

_BLOCK = 1 << 20
"""Bytes decoded at once. One odd line sends only its block down the slow path, and memory holds one block's records."""

_OPEN, _CLOSE, _RETURN = b"{}\r"


class LineReader(Reader, Generic[Wire]):
    decoder: ClassVar[msgspec.json.Decoder[Any]]
    record_start: ClassVar[str] = '{"'
    """How a record of this format begins, to find the next one behind damage on the same line."""

    def __init__(self, source: str, fingerprint: FingerprintFunction) -> None:
        super().__init__(source, fingerprint)
        self._unfinished: list[bytes] = []
        self._offset = 0
        self._line = 1
        self._run: tuple[Problem, int] | None = None

    @abstractmethod
    def rows(self, wire: Wire, place: Place) -> Sequence[Row] | None:
        """The records of one decoded line; None where it is no record of this format."""

    @abstractmethod
    def from_object(self, value: dict[str, Any], exact: bool) -> Wire | None:
        """The typed record from loosely decoded JSON whose members may have any type."""

    def memory(self) -> dict[str, Any] | None:
        """What of earlier lines matters to later ones. None, unless a reader says otherwise: it cannot go on where it was."""
        return None

    def recall(self, memory: dict[str, Any], earlier: Earlier) -> None:
        """Takes back what `memory` gave."""

    def position(self) -> Position | None:
        memory = self.memory()
        # Damage up to here may go on in what is new, or be mended by it.
        return None if memory is None or self._run is not None else Position(self._offset, self._line, memory)

    def go_on(self, position: Position, earlier: Earlier) -> None:
        self._offset, self._line = position.offset, position.line
        self.recall(position.memory, earlier)

    def feed(self, data: bytes) -> Iterator[Row]:
        end = data.rfind(b"\n") + 1
        if not end:
            if data:
                self._unfinished.append(data)
            return
        lines = b"".join((*self._unfinished, data[:end])) if self._unfinished else data[:end]
        self._unfinished = [data[end:]] if end < len(data) else []
        start = 0
        while start < len(lines):
            stop = lines.find(b"\n", start + _BLOCK) + 1 or len(lines)
            yield from self._read_block(lines if stop - start == len(lines) else lines[start:stop])
            start = stop

    def finish(self) -> Iterator[Row]:
        yield from self._end_run()
        last = b"".join(self._unfinished)
        self._unfinished = []
        for row in self._read_line(last, self._offset):
            yield _torn(row) if isinstance(row, Problem) else row
        if self._run is not None:
            self._run = (_torn(self._run[0]), 1)
        yield from self._end_run()

    def _read_block(self, block: bytes) -> Iterator[Row]:
        ends: list[int] = []
        start, regular = 0, True
        while (end := block.find(b"\n", start)) >= 0:
            last = end - 2 if block[end - 1] == _RETURN else end - 1
            if block[start] != _OPEN or block[last] != _CLOSE:
                regular = False
            ends.append(end)
            start = end + 1
        wires = self._decode_block(block) if regular else []
        if len(wires) != len(ends):
            wires = []
        base, start = self._offset, 0
        for index, end in enumerate(ends):
            if wires:
                place = Place(self.source, base + start, end - start, self._line)
                rows = self.rows(wires[index], place)
                if rows is not None and self._run is None:
                    yield from rows
                else:
                    yield from self._after_run(rows, place)
            else:
                yield from self._read_line(block[start:end], base + start)
            self._line += 1
            start = end + 1
        self._offset += len(block)

    def _decode_block(self, block: bytes) -> list[Wire]:
        try:
            wires: list[Wire] = self.decoder.decode_lines(block)
        except (msgspec.MsgspecError, UnicodeError, RecursionError):
            return []
        return wires

    def _read_line(self, line: bytes, offset: int) -> Iterator[Row]:
        try:
            wire = self.decoder.decode(line)
        except (msgspec.MsgspecError, UnicodeError, RecursionError):
            yield from self._salvage_line(line, offset)
        else:
            place = Place(self.source, offset, len(line), self._line)
            yield from self._after_run(self.rows(wire, place), place)

    def _salvage_line(self, line: bytes, offset: int) -> Iterator[Row]:
        for piece in salvage(line, self.record_start):
            if isinstance(piece, Found):
                place = Place(self.source, offset + piece.offset, piece.length, self._line)
                wire = self.from_object(piece.value, piece.exact)
                yield from self._after_run(None if wire is None else self.rows(wire, place), place)
            elif piece.kind == "damaged":
                yield from self._extend_run(Problem(piece.kind, piece.detail, offset + piece.offset, self._line))
            else:
                yield from self._end_run()
                yield Problem(piece.kind, piece.detail, offset + piece.offset, self._line)

    def _after_run(self, rows: Sequence[Row] | None, place: Place) -> Iterator[Row]:
        if rows is None:
            detail = f"{place.length} bytes: JSON, but no {self.format} record"
            yield from self._extend_run(Problem("foreign-record", detail, place.offset, place.line))
            return
        yield from self._end_run()
        yield from rows

    def _extend_run(self, problem: Problem) -> Iterator[Row]:
        """Neighbouring lines with the same fault make one Problem: a record broken over three lines is one damage."""
        if self._run is not None and self._run[0].kind == problem.kind:
            self._run = (self._run[0], problem.line - self._run[0].line + 1)
            return
        yield from self._end_run()
        self._run = (problem, 1)

    def _end_run(self) -> Iterator[Row]:
        if self._run is None:
            return
        (first, lines), self._run = self._run, None
        detail = first.detail if lines == 1 else f"{lines} lines; the first: {first.detail}"
        yield Problem(first.kind, detail, first.offset, first.line)


def _torn(problem: Problem) -> Problem:
    """Damage at the very end is a record that may still be in the writing."""
    if problem.kind not in ("damaged", "trailing-garbage"):
        return problem
    return Problem("torn-tail", problem.detail, problem.offset, problem.line)
