"""The floor: what reading the same bytes costs at least, in one process. Nothing is kept, joined, hashed or stored."""

from __future__ import annotations

from pathlib import Path

import msgspec
from msgspec import Raw, Struct


class _Call(Struct, gc=False):
    id: str | None = None
    name: str = ""
    args: Raw = Raw()


class _Answer(Struct, gc=False):
    id: str | None = None
    response: Raw = Raw()


class _Part(Struct, gc=False, rename="camel"):
    function_call: _Call | None = None
    function_response: _Answer | None = None


class _Message(Struct, gc=False):
    parts: tuple[_Part, ...] = ()


class _Record(Struct, gc=False):
    type: str
    uuid: str
    timestamp: str
    model: str | None = None
    message: _Message | None = None


def decode_all(folder: Path) -> int:
    """Records decoded, each file at once, with the fields that any ingest needs."""
    decode = msgspec.json.Decoder(_Record).decode_lines
    return sum(len(decode(path.read_bytes())) for path in folder.glob("projects/*/chats/*.jsonl"))
