"""How the reader tests read: a stand-in for the fingerprint, whole reads and reads in chunks, and lines of a session log."""

from __future__ import annotations

import json
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path
from typing import Any

from ingest.readers.base import Reader, Row
from ingest.records import AnyRecord, CardEvent, Problem

DATA = Path(__file__).parents[1] / "data"
CHATS = DATA / "projects/demo/chats"
SESSION = "7a27773e-ad36-4e19-8957-1fb48c987ea4"
PARENT = "14ee5fbd-90ab-4516-bc6c-ca956e0b7f2e"
SUBAGENTS = DATA / "projects/demo/subagents" / PARENT


def stand_in(tool: str, args: object) -> tuple[bytes, bytes]:
    """Not the client's key, only a function of the same two things."""
    canonical = json.dumps(args, sort_keys=True, separators=(",", ":")).encode()
    return sha256(tool.encode("utf-8", "replace") + canonical).digest(), canonical


def read(reader: type[Reader], data: bytes, source: str = f"/logs/{SESSION}.jsonl", chunk: int | None = None) -> list[Row]:
    return read_chunks(reader, cut(data, chunk), source)


def read_chunks(reader: type[Reader], chunks: Iterable[bytes], source: str) -> list[Row]:
    opened = reader(source, stand_in)
    rows = [row for chunk in chunks for row in opened.feed(chunk)]
    return [*rows, *opened.finish()]


def cut(data: bytes, chunk: int | None) -> list[bytes]:
    size = chunk or max(1, len(data))
    return [data[start : start + size] for start in range(0, len(data), size)]


def records(rows: Iterable[Row]) -> list[AnyRecord]:
    return [row for row in rows if not isinstance(row, Problem | CardEvent)]


def cards(rows: Iterable[Row]) -> list[CardEvent]:
    return [row for row in rows if isinstance(row, CardEvent)]


def problems(rows: Iterable[Row]) -> list[Problem]:
    return [row for row in rows if isinstance(row, Problem)]


def kinds(rows: Iterable[Row]) -> list[str]:
    return [problem.kind for problem in problems(rows)]


def record(uuid: str, type_: str = "user", parent: str | None = None, **members: Any) -> dict[str, Any]:
    """A record of a session log with the frame that every version writes."""
    frame = {
        "uuid": uuid,
        "parentUuid": parent,
        "sessionId": SESSION,
        "timestamp": "2026-11-30T17:00:00.250Z",
        "type": type_,
        "cwd": "/p",
        "version": "0.24.4",
    }
    return frame | members


def prompt(uuid: str, text: str = "go", **members: Any) -> dict[str, Any]:
    return record(uuid, message={"role": "user", "parts": [{"text": text}]}, **members)


def response(uuid: str, *parts: dict[str, Any], **members: Any) -> dict[str, Any]:
    return record(uuid, "assistant", message={"role": "model", "parts": list(parts)}, **members)


def call(call_id: str | None, tool: str = "run_shell_command", **args: Any) -> dict[str, Any]:
    return {"functionCall": {"id": call_id, "name": tool, "args": args}}


def result(uuid: str, call_id: str, answer: dict[str, Any], **outcome: Any) -> dict[str, Any]:
    part = {"functionResponse": {"id": call_id, "name": "run_shell_command", "response": answer}}
    told = {"callId": call_id, "status": "error" if "error" in answer else "success", **outcome}
    return record(uuid, "tool_result", message={"role": "user", "parts": [part]}, toolCallResult=told)


def line(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")


def lines(*values: object) -> bytes:
    return b"".join(line(value) + b"\n" for value in values)
