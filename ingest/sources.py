"""Which files there are below the given folders, and which reader understands each.

Names prove little: the telemetry file is called what the user liked, and `chats/` holds a ledger that looks like a log. So
every file that could be a log is a candidate, packed ones too, and its first bytes decide. Nothing is opened to find the
candidates: 20,000 files that have not changed must cost no more than their directory entries.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from ingest.packed import plain_name
from ingest.readers.acp_wire import AcpWireReader
from ingest.readers.base import Reader, Sample
from ingest.readers.card_events import CardEventsReader
from ingest.readers.lenient_json import scan
from ingest.readers.otlp import OtlpJsonReader
from ingest.readers.qwen_chat import QwenChatReader
from ingest.readers.qwen_debug import QwenDebugReader
from ingest.readers.qwen_side import QwenAgentMetaReader, QwenLedgerReader, QwenRuntimeReader, QwenUsageReader
from ingest.readers.qwen_telemetry import QwenTelemetryReader
from ingest.readers.sse_events import SseEventsReader

READERS: tuple[type[Reader], ...] = (
    QwenDebugReader,  # first: its messages may quote whole objects of the others
    QwenChatReader,
    QwenAgentMetaReader,
    QwenRuntimeReader,
    QwenLedgerReader,
    QwenUsageReader,
    QwenTelemetryReader,
    OtlpJsonReader,
    AcpWireReader,
    SseEventsReader,
    CardEventsReader,
)

HEAD_BYTES = 64 * 1024
"""How much of a file `recognise` wants to see."""

_LOG_SUFFIXES = frozenset({".jsonl", ".ndjson", ".log", ".json", ".sse", ".txt", ".pb", ".binpb", ""})
_SKIPPED_FOLDERS = frozenset({".git", "node_modules"})
_READABLE_BY_ALL = stat.S_IRUSR | stat.S_IRGRP | stat.S_IROTH
_ROTATED = re.compile(r"\.\d{1,3}$")
_SAMPLED = 20
"""Objects looked at: enough to pass over a torn header or an odd first record."""


class Candidate(Struct, frozen=True, gc=False):
    """A file that may be a log, and what tells later whether it changed."""

    name: str
    """Its whole path. A Path of each of 20,000 files would take as long as all that is done with them."""
    root: Path
    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int

    @property
    def path(self) -> Path:
        return Path(self.name)


class SkippedPath(Struct, frozen=True):
    path: Path
    reason: str


def default_roots() -> list[Path]:
    """The clients' own folders, whether or not they are here: what is looked for when no path is given."""
    configured = [os.environ.get("QWEN_HOME"), os.environ.get("QWEN_RUNTIME_DIR")]
    folders = [Path.home() / ".qwen", *(Path(folder).expanduser() for folder in configured if folder)]
    return list(dict.fromkeys(folders))


def discover(roots: Sequence[Path]) -> Iterator[Candidate | SkippedPath]:
    """Each real file once, by name within each folder; links are followed after everything that needs none.

    A file that is given by its own path is a candidate whatever it is called.
    """
    seen: set[tuple[int, int]] = set()
    for given in roots:
        root = Path(os.path.abspath(given.expanduser()))
        yield from _visit(root, root, seen, named=True)


def recognise(path: Path, head: bytes) -> type[Reader] | None:
    """The reader that claims these first bytes; None where none does. Of a session's log nearly always the first object tells;
    of a side file it does not, since a log may have been written behind it."""
    values: list[dict[str, Any]] = []
    for value, _ in _leading_objects(head):
        values.append(value)
        if len(values) == 1 and _claiming(Sample(path.name, head, (value,))) is QwenChatReader:
            return QwenChatReader
    return _claiming(Sample(path.name, head, tuple(values)))


def _claiming(sample: Sample) -> type[Reader] | None:
    return next((reader for reader in READERS if reader.claims(sample)), None)


def shows_a_whole_object(head: bytes) -> bool:
    """Whether a file can be judged by these bytes; damage, or a record longer than they are, tells nothing of what follows."""
    return any(value and is_whole for value, is_whole in _leading_objects(head))


def _visit(path: Path, root: Path, seen: set[tuple[int, int]], *, named: bool) -> Iterator[Candidate | SkippedPath]:
    try:
        status = path.stat()
    except FileNotFoundError:
        yield SkippedPath(path, "link to a file that is not there" if path.is_symlink() else "no such file or folder")
        return
    except OSError as error:
        yield SkippedPath(path, _why(error))
        return
    identity = (status.st_dev, status.st_ino)
    if identity in seen:
        return
    if stat.S_ISDIR(status.st_mode):
        seen.add(identity)
        yield from _walk(path, root, seen)
    elif not stat.S_ISREG(status.st_mode):
        if named:
            yield SkippedPath(path, "neither a file nor a folder")
    elif named or _may_be_log(path.name):
        seen.add(identity)
        yield _judge(os.fspath(path), root, status)


def _walk(folder: Path, root: Path, seen: set[tuple[int, int]]) -> Iterator[Candidate | SkippedPath]:
    pending = [folder]
    links: list[str] = []
    while pending:
        current = pending.pop()
        try:
            with os.scandir(current) as entries:
                ordered = sorted(entries, key=lambda entry: entry.name)
        except OSError as error:
            yield SkippedPath(current, _why(error))
            continue
        folders: list[Path] = []
        for entry in ordered:
            if entry.is_symlink():
                links.append(entry.path)
            elif entry.is_dir(follow_symlinks=False):
                if entry.name not in _SKIPPED_FOLDERS and _is_new(entry, seen):
                    folders.append(Path(entry.path))
            elif entry.is_file(follow_symlinks=False) and _may_be_log(entry.name):
                yield from _file(entry, root, seen)
        pending.extend(reversed(folders))
    for link in links:
        target = Path(os.path.realpath(link))
        if not target.exists():
            if _may_be_log(os.path.basename(link)):
                yield SkippedPath(Path(link), "link to a file that is not there")
            continue
        yield from _visit(target, root, seen, named=False)


def _file(entry: os.DirEntry[str], root: Path, seen: set[tuple[int, int]]) -> Iterator[Candidate | SkippedPath]:
    try:
        status = entry.stat(follow_symlinks=False)
    except OSError as error:  # gone since the folder was listed
        yield SkippedPath(Path(entry.path), _why(error))
        return
    identity = (status.st_dev, status.st_ino)
    if identity not in seen:
        seen.add(identity)
        yield _judge(entry.path, root, status)


def _is_new(entry: os.DirEntry[str], seen: set[tuple[int, int]]) -> bool:
    try:
        status = entry.stat(follow_symlinks=False)
    except OSError:
        return True  # listing it will tell why
    identity = (status.st_dev, status.st_ino)
    new = identity not in seen
    seen.add(identity)
    return new


def _judge(name: str, root: Path, status: os.stat_result) -> Candidate | SkippedPath:
    if status.st_mode & _READABLE_BY_ALL != _READABLE_BY_ALL and not os.access(name, os.R_OK):
        return SkippedPath(Path(name), "no permission to read it")
    return Candidate(name, root, status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)


def _may_be_log(name: str) -> bool:
    if name.endswith(".jsonl"):  # nearly all of them
        return True
    plain, suffix = os.path.splitext(plain_name(name))
    if _ROTATED.fullmatch(suffix):
        suffix = os.path.splitext(plain)[1]
    return suffix.lower() in _LOG_SUFFIXES


def _why(error: OSError) -> str:
    return (error.strerror or str(error)).lower()


def _leading_objects(head: bytes) -> Iterator[tuple[dict[str, Any], bool]]:
    """The JSON objects at the start, passing over damage, and whether each is whole; of one that the head cuts short, the
    members it still holds."""
    text = head.decode("utf-8", "replace").lstrip("\ufeff")
    at = 0
    for _ in range(_SAMPLED):
        at = text.find("{", at)
        if at < 0:
            return
        try:
            value, at = scan(text, at)
        except ValueError:
            if members := _leading_members(text, at):
                yield members, False
            at = text.find("\n{", at) + 1
            if not at:
                return
            continue
        if isinstance(value, dict):
            yield value, True


def _leading_members(text: str, at: int, depth: int = 3) -> dict[str, Any]:
    """The members of the object at `at` up to the one that does not end; of that one the key, and its own first members."""
    members: dict[str, Any] = {}
    at += 1
    while (start := _past_white(text, at)) < len(text) and text[start] == '"':
        try:
            key, at = scan(text, start)
        except ValueError:
            break
        colon = _past_white(text, at)
        if text[colon : colon + 1] != ":":
            break
        members[key] = None
        start = _past_white(text, colon + 1)
        try:
            members[key], at = scan(text, start)
        except ValueError:
            if depth and text.startswith("{", start):
                members[key] = _leading_members(text, start, depth - 1)
            break
        comma = _past_white(text, at)
        if text[comma : comma + 1] != ",":
            break
        at = comma + 1
    return members


def _past_white(text: str, at: int) -> int:
    while at < len(text) and text[at] in " \t\r\n":
        at += 1
    return at
