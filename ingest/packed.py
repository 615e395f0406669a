"""The plain bytes of a source, packed or not.

Who keeps logs packs old ones (`.gz`, `.zst`), and names lie, so the first bytes decide. Unpacking goes block by block: memory
is bounded by the block whatever the file holds, and what came before damage is kept.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Iterator
from typing import Protocol

_PACKED_NAME = re.compile(r"\.(?:gz|zst|xz|bz2)$", re.IGNORECASE)
_READ = 1 << 20
"""Packed bytes read at once."""
_MAGIC = 4
"""Bytes that tell a packing."""


class CannotUnpack(Exception):
    """The rest of the file cannot be unpacked; the message is for the person who wonders what is missing."""


class Stream(Protocol):
    def read(self, size: int, /) -> bytes | None: ...
    def seek(self, offset: int, /) -> int: ...
    def tell(self) -> int: ...


class _Unpacker(Protocol):
    """One member or frame; as the standard library's decompressors."""

    @property
    def eof(self) -> bool: ...
    @property
    def needs_input(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, max_length: int) -> bytes: ...


class _Gzip:
    def __init__(self) -> None:
        self._zlib = zlib.decompressobj(wbits=31)
        self._filled = False

    @property
    def eof(self) -> bool:
        return self._zlib.eof

    @property
    def needs_input(self) -> bool:
        return not self._filled and not self._zlib.unconsumed_tail

    @property
    def unused_data(self) -> bytes:
        return self._zlib.unused_data

    def decompress(self, data: bytes, max_length: int) -> bytes:
        plain = self._zlib.decompress(self._zlib.unconsumed_tail + data, max_length)
        self._filled = len(plain) == max_length
        return plain


def _zstd() -> _Unpacker:
    import sys

    if sys.version_info >= (3, 14):
        from compression.zstd import ZstdDecompressor
    else:
        from backports.zstd import ZstdDecompressor
    return ZstdDecompressor()


_UNPACKERS: dict[bytes, Callable[[], _Unpacker]] = {b"\x1f\x8b": _Gzip, b"\x28\xb5\x2f\xfd": _zstd}
_SKIPPABLE_FRAME = re.compile(rb"[\x50-\x5f]\x2a\x4d\x18")
"""May stand before a zstd frame (a seek table, a tool's note)."""


def plain_name(name: str) -> str:
    """The name of what is packed in a file of this name."""
    return _PACKED_NAME.sub("", name)


def is_packed(head: bytes) -> bool:
    return _unpacker_of(head) is not None


def plain_blocks(head: bytes, rest: Stream, size: int) -> Iterator[bytes]:
    """All bytes in blocks of `size` at most; `head` was read from `rest` already and tells whether they are packed. Raises
    CannotUnpack after the last byte that could be had, and OSError."""
    make = _unpacker_of(head)
    if make is not None:
        yield from _unpacked(head, rest, size, make)
        return
    while head:
        yield head
        head = rest.read(size) or b""


def _unpacker_of(head: bytes) -> Callable[[], _Unpacker] | None:
    if _SKIPPABLE_FRAME.match(head):
        return _zstd
    return next((make for magic, make in _UNPACKERS.items() if head.startswith(magic)), None)


def _unpacked(packed: bytes, rest: Stream, size: int, make: Callable[[], _Unpacker]) -> Iterator[bytes]:
    """Member after member, frame after frame: rotating tools append to a packed file."""
    while packed := _past_padding(packed, rest):
        if _unpacker_of(packed) is not make:
            raise CannotUnpack("bytes behind the packed data that are none of it")
        unpacker = make()
        start, in_hand, given = rest.tell() - len(packed), len(packed), 0
        while not unpacker.eof:
            try:
                plain = unpacker.decompress(packed, size)
            except Exception as error:  # each packing has an error class of its own
                yield from _up_to_the_damage(rest, start, rest.tell() - in_hand, given, size, make())
                raise CannotUnpack(f"the packed data are damaged: {error}") from error
            given += len(plain)
            if plain:
                yield plain
            packed = b""
            if unpacker.needs_input and not unpacker.eof:
                packed = rest.read(_READ) or b""
                in_hand = len(packed)
                if not packed:
                    raise CannotUnpack("the packed data break off")
        packed = unpacker.unused_data


def _up_to_the_damage(stream: Stream, start: int, sound: int, given: int, size: int, unpacker: _Unpacker) -> Iterator[bytes]:
    """What a member beginning at `start` holds beyond the `given` bytes: of the piece in hand a failing unpacker gives nothing,
    not even of a small file of which the checksum alone is wrong. So the piece that begins at `sound` is fed byte by byte."""
    end = stream.tell()
    stream.seek(start)
    found = bytearray()
    for plain in _until_it_fails(unpacker, _pieces(stream, sound - start), size):
        found += plain[given:]
        given = max(0, given - len(plain))
        if len(found) >= size:
            yield bytes(found[:size])
            del found[:size]
    stream.seek(end)
    if found:
        yield bytes(found)


def _until_it_fails(unpacker: _Unpacker, pieces: Iterator[bytes], size: int) -> Iterator[bytes]:
    for piece in pieces:
        more = True
        while more:
            try:
                plain = unpacker.decompress(piece, size)
            except Exception:
                return
            yield plain
            piece = b""
            more = not (unpacker.needs_input or unpacker.eof)


def _pieces(stream: Stream, sound: int) -> Iterator[bytes]:
    while sound and (piece := stream.read(min(_READ, sound))):
        sound -= len(piece)
        yield piece
    while piece := stream.read(_READ):
        yield from (piece[at : at + 1] for at in range(len(piece)))


def _past_padding(packed: bytes, rest: Stream) -> bytes:
    """From the next byte that is no padding on, long enough to tell the packing; b"" at the end."""
    packed = packed.lstrip(b"\0")
    while len(packed) < _MAGIC and (more := rest.read(_READ)):
        packed = (packed + more).lstrip(b"\0")
    return packed
