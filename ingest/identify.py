"""What a file is, by its first bytes: the reader of its format, or the reason why nobody can read it."""

from __future__ import annotations

from pathlib import Path

from ingest.packed import CannotUnpack, Stream, is_packed, plain_blocks, plain_name
from ingest.readers.base import Reader
from ingest.sources import HEAD_BYTES, recognise

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
_OTHER_PACKINGS = (b"\xfd7zXZ\x00", b"BZh", b"PK\x03\x04", b"\x04\x22\x4d\x18")
"""xz, bzip2, zip, lz4."""
_PROTO_OR_ZSTD = (b"\x0a", b"\x28\xb5\x2f\xfd")
"""How a frame's content begins: the first field of a protobuf message, or compressed."""
_WHITE = b" \t\r\n\xef\xbb\xbf"


def identify(path: Path, stream: Stream) -> tuple[type[Reader] | None, str]:
    """The file's reader and its format; without a reader, what else the file is: a key of WHY_SKIPPED. Raises OSError only."""
    head = stream.read(_PEEK_BYTES) or b""
    if not is_packed(head):
        reader = recognise(path, head)
        if reader is None and len(head) == _PEEK_BYTES:
            head += stream.read(HEAD_BYTES - _PEEK_BYTES) or b""
            reader = recognise(path, head)
        return (reader, reader.format) if reader is not None else (None, _kind(head))
    unpacked = _unpacked_head(head, stream)
    if unpacked is None:
        return None, _UNPACKABLE
    reader = recognise(path.with_name(plain_name(path.name)), unpacked)
    return (reader, reader.format) if reader is not None else (None, _kind(unpacked))


def _kind(head: bytes) -> str:
    if not head.strip(_WHITE):
        return EMPTY
    if _is_frame(head):
        return _OTLP_FRAMES
    return _OTHER_PACKING if head.startswith(_OTHER_PACKINGS) else UNKNOWN


def _is_frame(head: bytes) -> bool:
    """Four bytes of length, big-endian, before each message; a text begins with no NUL."""
    return head[:1] == b"\0" and any(head[:4]) and head[4:].startswith(_PROTO_OR_ZSTD)


def _unpacked_head(packed: bytes, rest: Stream) -> bytes | None:
    """None where nothing can be unpacked; where something can, reading the file will tell where it breaks off."""
    head = b""
    try:
        for block in plain_blocks(packed, rest, HEAD_BYTES):
            head += block
            if len(head) >= HEAD_BYTES:
                break
    except CannotUnpack:
        return head or None
    return head
