"""Sources of JSON objects one after another, pretty-printed or not: telemetry files and OTLP payloads.

Where an object ends is found without parsing: in these files a newline is followed by `{` only where a top-level object begins
(nested ones are indented, and strings hold no raw newline). That is checked, not trusted: a piece that does not decode is cut
again by counting its brackets, and only what that cannot read either is damage. Two processes may write one file, and a killed
one leaves an object torn in the middle of it with the next one's right behind.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from itertools import pairwise

from ingest.readers.base import Earlier, FingerprintFunction, Position, Reader, Row
from ingest.records import Place, Problem

_TOKEN = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[{}]', re.DOTALL)
_GLUED_START = re.compile(rb'\{\r?\n {2}"')
"""A pretty-printed top-level object that begins on the line on which another was torn."""
_IGNORED = re.compile(rb"(?:\s|\xef\xbb\xbf)*")
_NULS = re.compile(rb"[\s\x00]+")
LONGEST_OBJECT = 128 << 20
"""Bytes. A longer one is passed over and told with its size: memory is bounded by it."""
_PATIENCE = 4 << 20
"""Bytes without a boundary until brackets are counted: objects may stand on one line without end."""


class ObjectReader(Reader):
    def __init__(self, source: str, fingerprint: FingerprintFunction) -> None:
        super().__init__(source, fingerprint)
        self._buffer = bytearray()
        self._offset = 0
        """Of the buffer's first byte in the source."""
        self._searched = 0
        self._patience = _PATIENCE
        self._line = 1
        self._counted = 0
        """Up to where, in the bytes now read, `_line` has counted."""
        self._too_long: tuple[int, int] | None = None
        """Offset and line at which a piece begins that is being passed over."""

    @abstractmethod
    def rows(self, data: bytes, place: Place) -> Sequence[Row] | None:
        """The records of one whole object, perhaps none; None where the bytes are no object of this format."""

    def feed(self, data: bytes) -> Iterator[Row]:
        self._buffer += data
        if self._too_long is not None:
            yield from self._pass_over(self._buffer.find(b"\n{") + 1, len(self._buffer) - 1)
        boundary = self._buffer.rfind(b"\n{", max(0, self._searched - 1))
        self._searched = len(self._buffer)
        if boundary >= 0:
            yield from self._read(boundary + 1)
        elif len(self._buffer) > self._patience:
            last = max((end for _, end in _balanced(bytes(self._buffer), 0, len(self._buffer))), default=0)
            if last:
                yield from self._read(last)
            elif len(self._buffer) > LONGEST_OBJECT:
                self._too_long = (self._offset, self._line)
                yield from self._pass_over(0, len(self._buffer) - 1)
            else:
                self._patience *= 2

    def finish(self) -> Iterator[Row]:
        if self._too_long is not None:
            yield from self._pass_over(len(self._buffer), 0)
        yield from self._read(len(self._buffer), final=True)

    def _pass_over(self, next_object: int, otherwise: int) -> Iterator[Problem]:
        """Drops what comes before the next object; where none begins yet (0), the bytes that can belong to none."""
        drop = next_object or otherwise
        self._line += self._buffer.count(b"\n", 0, drop)
        self._offset += drop
        del self._buffer[:drop]
        self._searched, self._patience = 0, _PATIENCE
        if next_object and self._too_long is not None:
            (offset, line), self._too_long = self._too_long, None
            detail = f"{self._offset - offset} bytes in one piece, read are {LONGEST_OBJECT} at most"
            yield Problem("too-long", detail, offset, line)

    def position(self) -> Position | None:
        """Before the object that may not have ended yet."""
        return Position(self._offset, self._line, {}) if self._too_long is None else None

    def go_on(self, position: Position, earlier: Earlier) -> None:
        self._offset, self._line = position.offset, position.line

    def _read(self, stop: int, final: bool = False) -> Iterator[Row]:
        with memoryview(self._buffer) as view:
            data = bytes(view[:stop])
        del self._buffer[:stop]
        self._searched, self._patience, self._counted = 0, _PATIENCE, 0
        start = 0
        while start < stop:
            end = data.find(b"\n{", start) + 1 or stop
            rows = self._whole(data, start, end)
            if rows is None:
                yield from self._cut_again(data, start, end, final and end == stop)
            else:
                yield from rows
            start = end
        self._line_at(data, stop)
        self._offset += stop

    def _cut_again(self, data: bytes, start: int, end: int, last: bool) -> Iterator[Row]:
        cuts = [start, *(glued.start() for glued in _GLUED_START.finditer(data, start + 1, end)), end]
        for cut, next_cut in pairwise(cuts):
            rows = self._whole(data, cut, next_cut) if len(cuts) > 2 else None
            if rows is None:
                yield from self._count_brackets(data, cut, next_cut, last and next_cut == end)
            else:
                yield from rows

    def _count_brackets(self, data: bytes, start: int, end: int, last: bool) -> Iterator[Row]:
        at = start
        for opened, closed in _balanced(data, start, end):
            yield from self._gap(data, at, opened, torn=False)
            rows = self._whole(data, opened, closed)
            if rows is None:
                detail = f"an object, but no {self.format} record"
                yield self._problem("foreign-record", data, opened, closed, detail)
            else:
                yield from rows
            at = closed
        yield from self._gap(data, at, end, torn=last)

    def _whole(self, data: bytes, start: int, end: int) -> Sequence[Row] | None:
        piece = data[start:end]
        text = piece.lstrip()
        start += len(piece) - len(text)
        text = text.rstrip()
        if not text:
            return ()
        return self.rows(text, Place(self.source, self._offset + start, len(text), self._line_at(data, start)))

    def _gap(self, data: bytes, start: int, end: int, torn: bool) -> Iterator[Problem]:
        ignored = _IGNORED.match(data, start, end)
        start = ignored.end() if ignored else start
        if start == end:
            return
        if _NULS.fullmatch(data, start, end):
            nuls = data.count(b"\x00", start, end)
            yield self._problem("nul-block", data, start, end, f"{nuls} of them NUL")
        elif torn and data[start : start + 1] == b"{":
            yield self._problem("torn-tail", data, start, end, "the source ends inside an object")
        else:
            yield self._problem("damaged", data, start, end, "not readable as JSON")

    def _problem(self, kind: str, data: bytes, start: int, end: int, detail: str) -> Problem:
        return Problem(kind, f"{end - start} bytes: {detail}", self._offset + start, self._line_at(data, start))

    def _line_at(self, data: bytes, at: int) -> int:
        """Line of a position; positions only go forward, so every newline is counted once."""
        self._line += data.count(b"\n", self._counted, at)
        self._counted = max(self._counted, at)
        return self._line


def _balanced(data: bytes, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Where top-level objects begin and end, by brackets outside strings."""
    depth = opened = 0
    for token in _TOKEN.finditer(data, start, end):
        mark = token.group()
        if mark == b"{":
            if not depth:
                opened = token.start()
            depth += 1
        elif mark == b"}" and depth:
            depth -= 1
            if not depth:
                yield opened, token.end()
