"""What a file is, by its first bytes: the reader of its format, or the reason why nobody can read it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from ingest.packed import CannotUnpack, Stream, is_packed, plain_blocks, plain_name
from ingest.readers.base import Reader
from ingest.sources import HEAD_BYTES, recognise, shows_a_whole_object

UNKNOWN, EMPTY = "unknown", "empty"
_OTLP_FRAMES, _UNPACKABLE, _OTHER_PACKING = "otlp-frames", "unpackable", "other-packing"
WHY_SKIPPED = {
    UNKNOWN: "no reader knows its content",
    EMPTY: "it is empty",
    _OTLP_FRAMES: "OTLP in length-prefixed frames: have the collector's file exporter write `format: json` uncompressed",
    _UNPACKABLE: "it is packed and cannot be unpacked: damaged, or still in the writing",
    _OTHER_PACKING: "it is packed as neither gzip nor zstd: unpack it to have it read",
}
"""Why a file without a reader is passed over, by what it is; that word is stored as its format, so that the reason can be told
again without opening the file."""

_PEEK_BYTES = 4096
"""Tells most logs, in half the time that a whole head takes."""
_FARTHEST = 1 << 20
"""How far a sound object is looked for where the head shows none: damage at the start must not hide a log, nor a first record
with a member longer than the head."""
_LAST_RECORDS = 5
_OTHER_PACKINGS = (b"\xfd7zXZ\x00", b"BZh", b"PK\x03\x04", b"\x04\x22\x4d\x18")
"""xz, bzip2, zip, lz4."""
_PROTO_OR_ZSTD = (b"\x0a", b"\x28\xb5\x2f\xfd")
"""How a frame's content begins: the first field of a protobuf message, or compressed."""
_WHITE = b" \t\r\n\xef\xbb\xbf"


def identify(path: Path, stream: Stream) -> tuple[type[Reader] | None, str]:
    """The file's reader and its format; without a reader, what else the file is: a key of WHY_SKIPPED. Raises OSError only."""
    head = stream.read(_PEEK_BYTES) or b""
    if not is_packed(head):
        return _judged(path, head, lambda size: stream.read(size) or b"")
    unpacked = _Unpacked(head, stream)
    head = unpacked.read(HEAD_BYTES)
    if unpacked.failed and not head:
        return None, _UNPACKABLE
    return _judged(path.with_name(plain_name(path.name)), head, unpacked.read)


def _judged(path: Path, head: bytes, read: Callable[[int], bytes]) -> tuple[type[Reader] | None, str]:
    reader = recognise(path, head)
    if reader is None:
        head += read(max(0, HEAD_BYTES - len(head)))
        reader = recognise(path, head)
    if reader is None and not shows_a_whole_object(head):
        head += read(max(0, _FARTHEST - len(head)))
        reader = recognise(path, head) or recognise(path, _last_records(head))
    return (reader, reader.format) if reader is not None else (None, _kind(head))


def _last_records(head: bytes) -> bytes:
    """What damage leaves of lines may look like records without end, so those behind it are looked at from the other end."""
    return b"\n".join([line for line in head.split(b"\n") if line.startswith(b"{")][-_LAST_RECORDS:])


def _kind(head: bytes) -> str:
    if not head.strip(_WHITE):
        return EMPTY
    if _is_frame(head):
        return _OTLP_FRAMES
    return _OTHER_PACKING if head.startswith(_OTHER_PACKINGS) else UNKNOWN


def _is_frame(head: bytes) -> bool:
    """Four bytes of length, big-endian, before each message; a text begins with no NUL."""
    return head[:1] == b"\0" and any(head[:4]) and head[4:].startswith(_PROTO_OR_ZSTD)


class _Unpacked:
    """What a packed file holds, as far as it can be unpacked; reading it whole will tell where it breaks off."""

    def __init__(self, packed: bytes, rest: Stream) -> None:
        self._blocks = plain_blocks(packed, rest, HEAD_BYTES)
        self.failed = False

    def read(self, size: int) -> bytes:
        """A block more than asked for, at most; fewer bytes at the end."""
        found = b""
        try:
            while len(found) < size and (block := next(self._blocks, b"")):
                found += block
        except CannotUnpack:
            self.failed = True
        return found
