"""What a run has to do: each file below the roots is new, changed, the same, or gone since the last run.

An unchanged file (size, mtime, ctime, inode, reader's version) is not opened, and neither is one that was found to be no log:
a home holds many. Of those only the ones that somebody named, or whose name promises a log, are told of as skipped; the others
are remembered as `NO_LOG` and shown to nobody.
"""

from __future__ import annotations

import os
import time
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct, field

from ingest.identify import EMPTY, UNKNOWN, WHY_SKIPPED, identify
from ingest.packed import plain_name
from ingest.reading import ToRead
from ingest.sources import READERS, Candidate, SkippedPath
from ingest.store.sources import NO_LOG, SourceRow
from ingest.summary import Skipped

_LOG_SUFFIXES = (".jsonl", ".ndjson", ".log")
_RETRIED = ("unreadable", "gone")
"""Statuses that say nothing of the file's content: looked at again whatever its stat says."""
_WITHOUT_FACTS = ("skipped", NO_LOG)
_READ_TO_THE_END = ("complete", "tail-pending")
_OF_THE_CONTENT = ("format", "client", "records", "read_bytes", "reader_version")


def keep_content(row: SourceRow, before: SourceRow) -> None:
    """The row goes on telling of what the file said when it could be read."""
    for name in _OF_THE_CONTENT:
        setattr(row, name, getattr(before, name))


_READER_VERSIONS = {reader.format: reader.version for reader in READERS}
_ALL_READERS = zlib.crc32(repr(sorted(_READER_VERSIONS.items())).encode()) >> 1
"""The version at which a file was recognised by none: with a new reader it is looked at again."""


class Planned(Struct):
    row: SourceRow
    """As it will be stored; status, read_bytes and records are settled by the reading."""
    to_read: ToRead
    before: SourceRow | None
    """What the store has, maybe with facts, of an earlier version of this file."""

    @property
    def has_grown(self) -> bool:
        """The same file is longer than it was, and the same reader would read it: an append, unless its mark says otherwise."""
        before, row = self.before, self.row
        return (
            before is not None
            and before.status in _READ_TO_THE_END
            and row.bytes > before.bytes
            and (row.inode, row.format, row.reader_version) == (before.inode, before.format, before.reader_version)
        )

    @property
    def is_outdated(self) -> bool:
        before, row = self.before, self.row
        return (
            before is not None
            and before.status in _READ_TO_THE_END
            and (row.format, row.bytes, row.mtime_ns) == (before.format, before.bytes, before.mtime_ns)
            and row.reader_version != before.reader_version
        )


class Plan(Struct):
    files: list[Planned] = field(default_factory=list)
    unchanged: list[int] = field(default_factory=list)
    gone: list[int] = field(default_factory=list)
    """Vanished, their facts stay."""
    forgotten: list[int] = field(default_factory=list)
    """Vanished, and never held anything for us."""
    skipped: list[Skipped] = field(default_factory=list)
    unreadable: list[Skipped] = field(default_factory=list)
    outdated: int = 0
    """Files that have not changed, but their reader has."""


def make_plan(
    found: Sequence[Candidate | SkippedPath], roots: Sequence[Path], known: Mapping[str, SourceRow], *, anew: bool = False
) -> Plan:
    """anew: every file is looked into, changed or not."""
    plan = Plan()
    next_id = max((row.source_id for row in known.values()), default=0) + 1
    named = {stored_path(root) for root in roots}
    seen: set[str] = set()
    for item in found:
        name = stored_path(item.name if isinstance(item, Candidate) else item.path)
        seen.add(name)
        reason = item.reason if isinstance(item, SkippedPath) else None
        file = item if isinstance(item, Candidate) else _file_of(item.path)
        if file is None:
            plan.skipped.append(Skipped(name, reason or ""))
            continue
        before = known.get(name)
        if before is not None and not anew and _is_unchanged(file, before):
            if before.status == "skipped":
                plan.skipped.append(Skipped(name, reason or WHY_SKIPPED.get(before.format, WHY_SKIPPED[UNKNOWN])))
            if before.status not in _WITHOUT_FACTS:
                plan.unchanged.append(before.source_id)
            continue
        told = name in named or plain_name(name).endswith(_LOG_SUFFIXES) or reason is not None
        planned = _look_into(file, name, next_id if before is None else before.source_id, before, reason, told, plan)
        if planned is not None:
            plan.outdated += not anew and planned.is_outdated
            plan.files.append(planned)
            next_id += before is None
    _find_gone(plan, seen, [item.path for item in found if isinstance(item, SkippedPath)], roots, known)
    return plan


def stored_path(path: Path | str) -> str:
    """A path whose bytes are no UTF-8 is kept readable: the store holds text only."""
    text = os.fspath(path)
    if not text.startswith(os.sep):
        text = os.path.abspath(text)
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()


def _file_of(path: Path) -> Candidate | None:
    """A file that discovery passed over has a row too; a folder or a broken link has none."""
    try:
        stat = path.stat()
    except OSError:
        return None
    if not path.is_file():
        return None
    return Candidate(os.fspath(path), path, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino)


def _is_unchanged(file: Candidate, row: SourceRow) -> bool:
    version = _READER_VERSIONS.get(row.format, _ALL_READERS)
    return row.status not in _RETRIED and _same_stat(file, row) and row.reader_version == version


def _same_stat(file: Candidate, row: SourceRow) -> bool:
    now = (file.size, file.mtime_ns, file.ctime_ns, _signed(file.inode))
    return now == (row.bytes, row.mtime_ns, row.ctime_ns, row.inode)


def _signed(inode: int) -> int:
    """Some file systems use all 64 bits; one less is as good for telling files apart."""
    return inode & (2**63 - 1)


def _look_into(
    file: Candidate,
    name: str,
    source_id: int,
    before: SourceRow | None,
    reason: str | None,
    told: bool,
    plan: Plan,
) -> Planned | None:
    """reason: why discovery passed the file over. None where the row would say what it says already."""
    row = SourceRow(
        source_id=source_id,
        source_path=name,
        format=UNKNOWN,
        client=UNKNOWN,
        root=stored_path(file.root),
        bytes=file.size,
        read_bytes=0,
        records=0,
        status="skipped" if told else NO_LOG,
        read_at=time.time_ns() // 1000,
        mtime_ns=file.mtime_ns,
        ctime_ns=file.ctime_ns,
        inode=_signed(file.inode),
        reader_version=_ALL_READERS,
    )
    reader, refusal = None, None
    try:
        with open(file.name, "rb", buffering=0) as stream:
            if reason is None:
                reader, row.format = identify(file.path, stream)
    except OSError as e:
        refusal = e.strerror or str(e)
        plan.unreadable.append(Skipped(name, refusal))
        if before is not None and before.status == "unreadable" and _same_stat(file, before):
            return None
        if before is not None:
            keep_content(row, before)
        row.status = "unreadable"
    else:
        if reader is not None:
            row.status, row.client, row.reader_version = "complete", reader.client, reader.version
        elif told or row.format not in (UNKNOWN, EMPTY):
            row.status = "skipped"
            plan.skipped.append(Skipped(name, reason or WHY_SKIPPED[row.format]))
    return Planned(row, ToRead(source_id, file.name, name, file.size, reader, refusal, is_known=before is not None), before)


def _find_gone(
    plan: Plan, seen: set[str], skipped: Sequence[Path], roots: Sequence[Path], known: Mapping[str, SourceRow]
) -> None:
    """A source is gone when its root was looked through and its path leads nowhere, unless the way there is closed."""
    closed = [stored_path(path) for path in skipped if path.is_dir()]
    scanned = [stored_path(root) for root in roots]
    for path, row in known.items():
        if path in seen:
            continue
        looked_for = any(_is_below(row.root, root) or _is_below(path, root) for root in scanned)
        if not looked_for or any(_is_below(path, folder) for folder in closed):
            continue
        if row.status != "gone" and not os.path.lexists(path):
            (plan.forgotten if row.status in _WITHOUT_FACTS else plan.gone).append(row.source_id)


def _is_below(path: str, root: str) -> bool:
    return path == root or path.startswith(root.rstrip(os.sep) + os.sep)
