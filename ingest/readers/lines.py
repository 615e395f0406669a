"""Sources of one JSON record a line, decoded straight into typed records.

Whole blocks of lines go through one `decode_lines` call: the fastest way from bytes to fields that Python has, and it skips
what the type does not name. It tells no offsets, so the line ends are found beside it, and the block counts as read only if
every line begins with `{`, ends with `}` and gave one record: `}` newline `{` stands in sound JSON between two top-level values
only, so records and lines then match one to one. Any other block is read line by line.

Lines end at b"\\n" alone: U+2028 and U+0085 stand raw inside strings, and str.splitlines would cut there. Bytes that are no
UTF-8 are seen in what is decoded only: looking for them in skipped texts would cost half as much as all the rest.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, ClassVar, Generic, TypeVar

import msgspec

from ingest.readers.base import Earlier, FingerprintFunction, Position, Reader, Row
from ingest.readers.fragments import Fragments, Mended, Piece
from ingest.readers.salvage import Found, Note, salvage
from ingest.records import Place, Problem

Wire = TypeVar("Wire")

LONGEST_LINE = 128 << 20
"""Bytes. A longer line is skipped and told with its size: memory is bounded by it. Lines of 60 MB occur."""

_LONGEST_SALVAGED = 64 << 20
"""Bytes. Searching a broken line for its records takes several times its size in memory."""

_BLOCK = 1 << 20
"""Bytes decoded at once. One odd line sends only its block down the slow path, and memory holds one block's records."""

_OPEN, _CLOSE, _RETURN = b"{}\r"


class LineReader(Reader, Generic[Wire]):
    decoder: ClassVar[msgspec.json.Decoder[Any]]
    record_start: ClassVar[re.Pattern[str]] = re.compile(r'\{"')
    """How a record of this format begins, to find the next one behind damage on the same line."""

    def __init__(self, source: str, fingerprint: FingerprintFunction) -> None:
        super().__init__(source, fingerprint)
        self._unfinished: list[bytes] = []
        self._held = 0
        """Bytes of the unfinished line so far, whether kept or, of a line too long, dropped."""
        self._offset = 0
        self._line = 1
        self._fragments = Fragments()

    @abstractmethod
    def rows(self, wire: Wire, place: Place) -> Sequence[Row] | None:
        """The records of one decoded line; None where it is no record of this format."""

    @abstractmethod
    def from_object(self, value: dict[str, Any], exact: bool) -> Wire | None:
        """The typed record from loosely decoded JSON whose members may have any type."""

    def is_record(self, value: dict[str, Any]) -> bool:
        """Whether an object found behind damage is a record by itself, and no inner object of the broken one."""
        return True

    def memory(self) -> dict[str, Any] | None:
        """What of earlier lines matters to later ones. None, unless a reader says otherwise: it cannot go on where it was."""
        return None

    def recall(self, memory: dict[str, Any], earlier: Earlier) -> None:
        """Takes back what `memory` gave."""

    def position(self) -> Position | None:
        memory = self.memory()
        # Damage up to here may go on in what is new, or be mended by it.
        return None if memory is None or self._fragments.waiting else Position(self._offset, self._line, memory)

    def go_on(self, position: Position, earlier: Earlier) -> None:
        self._offset, self._line = position.offset, position.line
        self.recall(position.memory, earlier)

    def time_of_fragment(self, piece: bytes) -> int | None:
        """When the record was written of which this is a piece, in microseconds, where that can be told."""
        return None

    def time_of_last_record(self) -> int | None:
        return None

    def feed(self, data: bytes) -> Iterator[Row]:
        end = data.rfind(b"\n") + 1
        start = 0
        if end and self._held:
            start = data.find(b"\n") + 1
            self._hold(data[:start])
            yield from self._end_held(self._read_block)
        while start < end:
            stop = data.find(b"\n", min(start + _BLOCK, end - 1), end) + 1
            yield from self._read_block(data if stop - start == len(data) else data[start:stop])
            start = stop
        if end < len(data):
            self._hold(data[end:])

    def finish(self) -> Iterator[Row]:
        yield from self._end_held(self._read_last)
        yield from self._fragments.end()

    def _hold(self, data: bytes) -> None:
        self._held += len(data)
        if self._held > LONGEST_LINE:
            self._unfinished.clear()
        else:
            self._unfinished.append(data)

    def _end_held(self, read: Callable[[bytes], Iterable[Row]]) -> Iterator[Row]:
        length, self._held = self._held, 0
        if length <= LONGEST_LINE:
            line = b"".join(self._unfinished)
            self._unfinished.clear()
            yield from read(line)
            return
        yield from self._fragments.record(self._line)
        yield Problem("too-long", f"{length} bytes on one line, read are {LONGEST_LINE} at most", self._offset, self._line)
        self._offset += length
        self._line += 1

    def _read_last(self, line: bytes) -> Iterator[Row]:
        """A last line without its newline may still be in the writing."""
        yield from self._read_line(line, self._offset, is_last=True)

    def _read_block(self, block: bytes) -> list[Row]:
        """In one go and not row after row: passed up through generators, a record costs as much as its making."""
        ends, is_regular = _line_ends(block)
        wires = self._decode_block(block) if is_regular else []
        found = self._sound_lines(wires, ends) if len(wires) == len(ends) else self._lines(block, ends)
        self._offset += len(block)
        return found

    def _lines(self, block: bytes, ends: list[int]) -> list[Row]:
        found: list[Row] = []
        start = 0
        for end in ends:
            found += self._read_line(block[start:end], self._offset + start)
            self._line += 1
            start = end + 1
        return found

    def _sound_lines(self, wires: list[Wire], ends: list[int]) -> list[Row]:
        found: list[Row] = []
        source, base, start, line = self.source, self._offset, 0, self._line
        waiting = self._fragments.waiting
        for wire, end in zip(wires, ends, strict=True):
            place = Place(source, base + start, end - start, line)
            rows = self.rows(wire, place)
            if waiting or rows is None:
                found += self._with_fragments(rows, place)
                waiting = self._fragments.waiting
            else:
                found += rows
            line += 1
            start = end + 1
        self._line = line
        return found

    def _decode_block(self, block: bytes) -> list[Wire]:
        try:
            wires: list[Wire] = self.decoder.decode_lines(block)
        except (msgspec.MsgspecError, UnicodeError, RecursionError):
            return []
        return wires

    def _read_line(self, line: bytes, offset: int, is_last: bool = False) -> Iterator[Row]:
        try:
            wire = self.decoder.decode(line)
        except (msgspec.MsgspecError, UnicodeError, RecursionError):
            yield from self._salvage_line(line, offset, is_last)
        else:
            place = Place(self.source, offset, len(line), self._line)
            yield from self._with_fragments(self.rows(wire, place), place)

    def _salvage_line(self, line: bytes, offset: int, is_last: bool) -> Iterator[Row]:
        if not line.strip() and not is_last:
            if self._fragments.waiting:
                yield from self._fragments.add(Piece(line, offset, self._line, None))
            return
        if len(line) > _LONGEST_SALVAGED:
            detail = f"{len(line)} bytes: too long a line to search for what is sound in it"
            yield from self._fragments.fault(Problem("torn-tail" if is_last else "damaged", detail, offset, self._line))
            return
        whole = Piece(line, offset, self._line, None)
        mended = self._fragments.mend(whole) if self._fragments.waiting else None
        if mended is not None:
            yield from self._mended(mended)
            return
        read = 0
        for found in salvage(line, self.record_start, self.is_record):
            end = found.offset + found.length
            if isinstance(found, Found):
                place = Place(self.source, offset + found.offset, found.length, self._line)
                yield from self._object(line[found.offset : end], found.value, found.exact, place)
            elif found.kind in ("damaged", "trailing-garbage"):
                problem = self._problem("torn-tail" if is_last else found.kind, found, offset)
                yield from self._add(Piece(line[read:end], offset + read, self._line, problem))
            else:
                yield from self._fragments.fault(self._problem(found.kind, found, offset))
            if found.length:
                read = end

    def _problem(self, kind: str, note: Note, offset: int) -> Problem:
        return Problem(kind, note.detail, offset + note.offset, self._line)

    def _object(self, data: bytes, value: dict[str, Any], exact: bool, place: Place) -> Iterator[Row]:
        """What stands by itself is decoded like any other line; only what is refused even so, loosely."""
        wire: Wire | None
        try:
            wire = self.decoder.decode(data)
        except (msgspec.MsgspecError, UnicodeError, RecursionError):
            wire = self.from_object(value, exact)
        yield from self._with_fragments(None if wire is None else self.rows(wire, place), place)

    def _add(self, piece: Piece) -> Iterator[Row]:
        mended = self._fragments.mend(piece)
        if mended is not None:
            yield from self._mended(mended)
            return
        before, then = self.time_of_last_record(), self.time_of_fragment(piece.data)
        if before is not None and then is not None and then < before and not piece.starts:
            detail = "the rest of a record that is older than the one before it: two programs wrote this file at once"
            yield Problem("concurrent-writers", detail, piece.offset, piece.line)
        yield from self._fragments.add(piece)

    def _mended(self, mended: Mended) -> Iterator[Row]:
        place = Place(self.source, mended.offset, mended.length, mended.problem.line)
        yield from self._object(mended.data, mended.value, True, place)
        yield mended.problem

    def _with_fragments(self, rows: Sequence[Row] | None, place: Place) -> Iterator[Row]:
        if rows is None:
            detail = f"{place.length} bytes: JSON, but no {self.format} record"
            yield from self._fragments.fault(Problem("foreign-record", detail, place.offset, place.line))
            return
        yield from self._fragments.record(place.line)
        yield from rows


def _line_ends(block: bytes) -> tuple[list[int], bool]:
    """Where the lines end, and whether each looks like one object."""
    ends: list[int] = []
    start, is_regular = 0, True
    find = block.find
    while (end := find(b"\n", start)) >= 0:
        last = block[end - 1]
        if block[start] != _OPEN or (last != _CLOSE and (last != _RETURN or block[end - 2] != _CLOSE)):
            is_regular = False
        ends.append(end)
        start = end + 1
    return ends, is_regular
