"""Getting whole records out of a damaged line.

Seen in the wild: two records on one line, blocks of NUL bytes after a crash, a record cut off by another writer's, bytes that
are no UTF-8. A line skipped whole would leave a call unanswered, which reads as a hang; so every record in it is kept and the
damage is told beside it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from msgspec import Struct

from ingest.readers.lenient_json import scan

_NULS_OR_TEXT = re.compile(rb"\x00+|[^\x00]+")
_NO_UTF8 = re.compile("[\ud800-\udfff]")
"""What `surrogateescape` makes of bytes that are none."""
_BYTE_ORDER_MARK = "\ufeff"
_WHITE = " \t\r\n"
_MOST_SEARCHES = 50
"""How often one line is searched for a further record; a hostile line must not cost a scan per byte."""


class Found(Struct, frozen=True):
    value: dict[str, Any]
    offset: int
    length: int
    exact: bool
    """False where bytes had to be replaced: what the record says is then not what was written."""


class Note(Struct, frozen=True):
    """What is wrong: with `length` bytes at `offset`, or (0) with the record that holds that byte."""

    kind: str
    detail: str
    offset: int
    length: int = 0


def salvage(line: bytes, record_start: re.Pattern[str], is_record: Callable[[dict[str, Any]], bool]) -> Iterator[Found | Note]:
    """The records and the damage of one line, in order; offsets count from its start. White space gives nothing.

    Behind damage a record is looked for where `record_start` matches, and has to pass `is_record`: the inner objects of a
    broken record are no records.
    """
    for piece in _NULS_OR_TEXT.finditer(line):
        data = piece.group()
        if data[:1] == b"\x00":
            yield Note("nul-block", f"{len(data)} NUL bytes", piece.start(), len(data))
        else:
            yield from _Text(data, piece.start(), record_start, is_record).read()


class _Text:
    def __init__(
        self, data: bytes, base: int, record_start: re.Pattern[str], is_record: Callable[[dict[str, Any]], bool]
    ) -> None:
        self._text = data.decode("utf-8", "surrogateescape")
        self._base = base
        self._record_start = record_start
        self._is_record = is_record
        self._searches = _MOST_SEARCHES

    def read(self) -> Iterator[Found | Note]:
        text = self._text
        odd = _NO_UTF8.search(text)
        if odd:
            yield Note("bad-utf8", f"byte 0x{ord(odd[0]) & 0xFF:02x} is no UTF-8", self._offset(odd.start()))
        at = 1 if text.startswith(_BYTE_ORDER_MARK) else 0
        found = 0
        while (at := _past_white(text, at)) < len(text):
            value, end, reason = _object_at(text, at)
            if value is None:
                end = self._next_record(at + 1)
                kind = "trailing-garbage" if found and end == len(text) else "damaged"
                length = self._offset(end) - self._offset(at)
                yield Note(kind, f"{length} bytes: {reason}", self._offset(at), length)
            else:
                found += 1
                yield Found(value, self._offset(at), self._offset(end) - self._offset(at), exact=odd is None)
            at = end
        if found > 1:
            yield Note("repaired", f"{found} records on one line", self._base)

    def _next_record(self, start: int) -> int:
        for match in self._record_start.finditer(self._text, start):
            if not self._searches:
                break
            self._searches -= 1
            value, _, _ = _object_at(self._text, match.start())
            if value is not None and self._is_record(value):
                return match.start()
        return len(self._text)

    def _offset(self, index: int) -> int:
        return self._base + len(self._text[:index].encode("utf-8", "surrogateescape"))


def _object_at(text: str, at: int) -> tuple[dict[str, Any] | None, int, str]:
    """The object and its end; None and why there is none."""
    try:
        value, end = scan(text, at)
    except ValueError as error:
        return None, at, str(error)
    return (value, end, "") if isinstance(value, dict) else (None, at, "no JSON object")


def _past_white(text: str, at: int) -> int:
    while at < len(text) and text[at] in _WHITE:
        at += 1
    return at
