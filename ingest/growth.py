"""What is kept of a source so that only what is new is read when it has grown.

A mark holds where to go on and an anchor: a hash over the first KB and over the last 64 KB before that place. Whatever shifts
the earlier bytes (a rewrite, another file under the name, a file cut short and grown again) changes the anchor, and the source
is read whole. A change in the middle that shifts nothing shows in no anchor; so a source that changed without growing is read
whole whatever its anchor says, and an append leaves nothing to doubt.
"""

from __future__ import annotations

import os
import zlib
from hashlib import blake2b
from typing import BinaryIO

import msgspec
from msgspec import Struct

from ingest.readers.base import Position, Reader

WORTH_MARKING = 1 << 20
"""Bytes. A smaller source is read again in the time that it takes to keep and check a mark."""
_LONGEST_MARK = 256 << 10
"""Bytes, packed. A reader that has more to remember reads its source again."""
_HEAD = 1 << 10
_TAIL = 64 << 10


class Mark(Struct, frozen=True):
    position: Position
    records: int
    """Made of the bytes before the position."""
    anchor: bytes


def make_mark(stream: BinaryIO, reader: Reader, records: int) -> bytes | None:
    """Of a reader that was fed all there is and has not finished. None where there is nothing to gain by a mark, or what was
    just read is gone again. records: made so far."""
    if stream.tell() < WORTH_MARKING or (position := reader.position()) is None:
        return None
    anchor = _anchor(stream, position.offset)
    if anchor is None:
        return None
    packed = zlib.compress(msgspec.msgpack.encode(Mark(position, records, anchor)))
    return packed if len(packed) <= _LONGEST_MARK else None


def mark_that_holds(stream: BinaryIO, packed: bytes) -> Mark | None:
    """The mark, where everything that it was made of is still there; None where the source has to be read whole."""
    mark = msgspec.msgpack.decode(zlib.decompress(packed), type=Mark)
    return mark if _anchor(stream, mark.position.offset) == mark.anchor else None


def read_at(stream: BinaryIO, offset: int, length: int) -> bytes:
    """Fewer bytes where the file ends. The stream stands where it stood."""
    before = stream.tell()
    try:
        stream.seek(offset)
        return stream.read(length)
    finally:
        stream.seek(before)


def _anchor(stream: BinaryIO, offset: int) -> bytes | None:
    if os.fstat(stream.fileno()).st_size < offset:
        return None
    head = read_at(stream, 0, min(_HEAD, offset))
    tail = read_at(stream, max(0, offset - _TAIL), min(_TAIL, offset))
    return blake2b(head + tail, digest_size=16, salt=offset.to_bytes(8, "big")).digest()
