"""Records as a few bytes in the store and back: MessagePack by the types of ingest/records.py, then Zstandard.

Facts are only ever read a session at a time and as records again. Rows of columns would be taken apart and put together one
value at a time, which took longer than reading the log; so they are packed as they are, 2 % of the log's bytes.

Records come from logs and may hold what no store keeps: lone surrogates and integers of 65 bits. Those are looked for only
where the packing refuses, but for the integers that it would take and a column would not.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any, cast

import msgspec
from msgspec import Struct

from ingest.readers.lenient_json import storable
from ingest.records import CardEvent, Response, SourceRecord

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

_LEVEL = 1
"""3 takes a quarter longer for one part in sixty (500 MB of logs)."""
_LARGEST = 2**63 - 1

_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(list[SourceRecord]).decode

Refused = Callable[[SourceRecord, str, object], None]
"""Called with a record, the field and the value that could not be kept and is left empty."""


def pack(records: Sequence[SourceRecord], refused: Refused) -> tuple[bytes, Sequence[SourceRecord]]:
    """And the records as they will come back: the same ones, but for what had to be changed."""
    if any(map(_has_large_integer, records)):
        records = [_storable(record, refused) for record in records]
    try:
        packed = _encode(records)
    except (UnicodeEncodeError, OverflowError):
        records = [_storable(record, refused) for record in records]
        packed = _encode(records)
    return zstd.compress(packed, _LEVEL), records


def unpack(packed: bytes) -> list[SourceRecord]:
    return _decode(zstd.decompress(packed))


def _has_large_integer(record: SourceRecord) -> bool:
    """Of the fields that a log fills as it likes."""
    if isinstance(record, Response):
        told: Iterable[int | None] = (record.tokens_in, record.tokens_out, record.tokens_cached)
    elif isinstance(record, CardEvent):
        told = (record.round_no, record.stream_index, record.result_lines)
    else:
        return False
    return any(value is not None and not -_LARGEST <= value <= _LARGEST for value in told)


def _storable(record: SourceRecord, refused: Refused) -> SourceRecord:
    def told(name: str, value: object) -> None:
        refused(record, name, value)

    return cast(SourceRecord, _storable_struct(record, told))


def _storable_struct(struct: Struct, refused: Callable[[str, object], None]) -> Struct:
    changed = {}
    for name in struct.__struct_fields__:
        value = getattr(struct, name)
        kept = _storable_value(value, name, refused)
        if kept is not value:
            changed[name] = kept
    return msgspec.structs.replace(struct, **changed) if changed else struct


def _storable_value(value: Any, name: str, refused: Callable[[str, object], None]) -> Any:
    """The same object where nothing has to be changed."""
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, int) and not -_LARGEST <= value <= _LARGEST:
        refused(name, value)
        return None
    if isinstance(value, Struct):
        return _storable_struct(value, refused)
    if isinstance(value, tuple):
        return tuple(_storable_value(part, name, refused) for part in value)
    if isinstance(value, dict):
        return {storable(key): _storable_value(part, name, refused) for key, part in value.items()}
    return value
