"""What a run has to do: each file below the roots is new, changed, the same, or gone since the last run.

An unchanged file (size, mtime, ctime, inode, reader's version) is not opened. A file that no reader knows is worth a line only
if somebody named it or its name promises a log: a home holds a million others.
"""

from __future__ import annotations

import os
import time
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct, field

from ingest.reading import ToRead
from ingest.sources import HEAD_BYTES, READERS, Candidate, SkippedPath, recognise
from ingest.store.sources import SourceRow
from ingest.summary import Skipped

UNKNOWN = "unknown"
_LOG_SUFFIXES = (".jsonl", ".ndjson", ".log")
_RETRIED = ("unreadable", "gone")
"""Statuses that say nothing of the file's content: looked at again whatever its stat says."""

_OF_THE_CONTENT = ("format", "client", "records", "read_bytes", "reader_version")

_READER_VERSIONS = {reader.format: reader.version for reader in READERS}
_ALL_READERS = zlib.crc32(repr(sorted(_READER_VERSIONS.items())).encode()) >> 1
"""The version at which a file was recognised by none: with a new reader it is looked at again."""


class Planned(Struct):
    row: SourceRow
    """As it will be stored; status, read_bytes and records are filled in by the reading."""
    to_read: ToRead
    known: bool
    """The store holds facts of an earlier version of this file."""


class Plan(Struct):
    files: list[Planned] = field(default_factory=list)
    unchanged: int = 0
    gone: list[int] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    unreadable: list[Skipped] = field(default_factory=list)


def make_plan(found: Sequence[Candidate | SkippedPath], roots: Sequence[Path], known: Mapping[str, SourceRow]) -> Plan:
    plan = Plan()
    next_id = max((row.source_id for row in known.values()), default=0) + 1
    seen: set[str] = set()
    named = {stored_path(root) for root in roots}
    for item in found:
        name = stored_path(item.path)
        seen.add(name)
        if isinstance(item, SkippedPath):
            plan.skipped.append(Skipped(name, item.reason))
            continue
        before = known.get(name)
        if before is not None and _is_unchanged(item, before):
            if before.status == "skipped":
                plan.skipped.append(Skipped(name, "no reader knows its content"))
            else:
                plan.unchanged += 1
            continue
        source_id = next_id if before is None else before.source_id
        planned = _look_into(item, name, source_id, before, plan, explicit=name in named)
        if planned is not None:
            plan.files.append(planned)
            next_id += before is None
    plan.gone = _gone(known, seen, roots)
    return plan


def stored_path(path: Path) -> str:
    """A path whose bytes are no UTF-8 is kept readable: the store holds text only."""
    return os.path.abspath(path).encode("utf-8", "backslashreplace").decode()


def _is_unchanged(file: Candidate, row: SourceRow) -> bool:
    version = _READER_VERSIONS.get(row.format, _ALL_READERS)
    return row.status not in _RETRIED and _same_stat(file, row) and row.reader_version == version


def _same_stat(file: Candidate, row: SourceRow) -> bool:
    return (file.size, file.mtime_ns, file.ctime_ns, _signed(file.inode)) == (
        row.bytes,
        row.mtime_ns,
        row.ctime_ns,
        row.inode,
    )


def _signed(inode: int) -> int:
    """Some file systems use all 64 bits; one less is as good for telling files apart."""
    return inode & (2**63 - 1)


def _look_into(
    file: Candidate, name: str, source_id: int, before: SourceRow | None, plan: Plan, *, explicit: bool
) -> Planned | None:
    """None where there is nothing to write: not a log, or still as unreadable as it was."""
    row = SourceRow(
        source_id=source_id,
        source_path=name,
        format=UNKNOWN,
        client=UNKNOWN,
        root=stored_path(file.root),
        bytes=file.size,
        read_bytes=0,
        records=0,
        status="skipped",
        read_at=time.time_ns() // 1000,
        mtime_ns=file.mtime_ns,
        ctime_ns=file.ctime_ns,
        inode=_signed(file.inode),
        reader_version=_ALL_READERS,
    )
    reader, refusal = None, None
    try:
        with open(file.path, "rb", buffering=0) as stream:
            head = stream.read(HEAD_BYTES)
    except OSError as e:
        refusal = e.strerror or str(e)
        plan.unreadable.append(Skipped(name, refusal))
        if before is not None and before.status == "unreadable" and _same_stat(file, before):
            return None
        if before is not None:
            # What it said when it could be read stays, so the row goes on telling of that.
            row = msgspec.structs.replace(row, **{name: getattr(before, name) for name in _OF_THE_CONTENT})
        row.status = "unreadable"
    else:
        reader = recognise(file.path, head)
        if reader is not None:
            row.status, row.format, row.client = "complete", reader.format, reader.client
            row.reader_version = reader.version
        elif explicit or name.endswith(_LOG_SUFFIXES):
            plan.skipped.append(Skipped(name, "no reader knows its content"))
        elif before is None:
            return None
    return Planned(row, ToRead(source_id, os.fspath(file.path), name, reader, refusal), before is not None)


def _gone(known: Mapping[str, SourceRow], seen: set[str], roots: Sequence[Path]) -> list[int]:
    below = [stored_path(root) for root in roots]
    return [
        row.source_id
        for path, row in known.items()
        if path not in seen
        and row.status != "gone"
        and any(path == root or path.startswith(root.rstrip(os.sep) + os.sep) for root in below)
        and not os.path.lexists(path)
    ]
