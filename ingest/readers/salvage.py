"""Getting whole records out of a damaged line.

Seen in the wild: two records on one line, blocks of NUL bytes after a crash, a record cut off by another writer's, bytes that
are no UTF-8. A line skipped whole would leave a call unanswered, which reads as a hang; so every record in it is kept and the
damage is told beside it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from ingest.readers.lenient_json import scan

_NULS_OR_TEXT = re.compile(rb"\x00+|[^\x00]+")
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_WHITE = " \t\r\n"
_MOST_RESTARTS = 50
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


def salvage(line: bytes, record_start: str) -> Iterator[Found | Note]:
    """The records and the damage of one line, in order; offsets count from its start. White space gives nothing."""
    for piece in _NULS_OR_TEXT.finditer(line):
        data = piece.group()
        if data[:1] == b"\x00":
            yield Note("nul-block", f"{len(data)} NUL bytes", piece.start(), len(data))
        else:
            yield from _salvage_text(data, piece.start(), record_start)


def _salvage_text(data: bytes, base: int, record_start: str) -> Iterator[Found | Note]:
    exact = True
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        exact = False
        text = data.decode("utf-8", "surrogateescape")
        yield Note("bad-utf8", f"byte 0x{data[error.start]:02x} is no UTF-8", base + error.start)

    def offset(index: int) -> int:
        return base + len(text[:index].encode("utf-8", "surrogateescape"))

    at = len(_BYTE_ORDER_MARK.decode()) if data.startswith(_BYTE_ORDER_MARK) else 0
    found = 0
    for _ in range(_MOST_RESTARTS):
        while at < len(text) and text[at] in _WHITE:
            at += 1
        if at == len(text):
            break
        reason = "no JSON object"
        try:
            value, end = scan(text, at)
        except ValueError as error:
            value, reason = None, str(error)
        if isinstance(value, dict):
            found += 1
            yield Found(value, offset(at), offset(end) - offset(at), exact)
            at = end
            continue
        restart = text.find(record_start, at + 1)
        end = restart if restart >= 0 else len(text)
        kind = "trailing-garbage" if found and restart < 0 else "damaged"
        length = offset(end) - offset(at)
        yield Note(kind, f"{length} bytes: {reason}", offset(at), length)
        at = end
    else:
        length = base + len(data) - offset(at)
        yield Note("damaged", f"{length} bytes: too many broken pieces on one line", offset(at), length)
    if found > 1:
        yield Note("repaired", f"{found} records on one line", base)
