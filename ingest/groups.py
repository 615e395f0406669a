"""What is read at once, and what is stored at once.

A worker takes a group of files at a time: small ones keep all workers busy to the end. A transaction takes what several groups
gave, because each one costs, however little it brings.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from ingest.analysing import Analysed
from ingest.plan import Planned
from ingest.reading import GroupRead
from ingest.store.columns import Columns

GROUP_BYTES = 16 << 20
GROUP_FILES = 2000
TRANSACTION_BYTES = 96 << 20
"""Of the sources read. What they gave is held in memory until then: some 5 % of it."""


def groups_of(files: Sequence[Planned]) -> Iterator[list[Planned]]:
    group: list[Planned] = []
    size = 0
    for file in files:
        if group and (size + file.row.bytes > GROUP_BYTES or len(group) >= GROUP_FILES):
            yield group
            group, size = [], 0
        group.append(file)
        size += file.row.bytes
    if group:
        yield group


def transactions(read: Iterable[tuple[list[Planned], GroupRead]]) -> Iterator[tuple[list[Planned], GroupRead]]:
    """Groups in their order, put together."""
    files: list[Planned] = []
    parts: list[GroupRead] = []
    size = 0
    for group, part in read:
        files += group
        parts.append(part)
        size += sum(file.row.bytes for file in group)
        if size >= TRANSACTION_BYTES:
            yield files, _together(parts)
            files, parts, size = [], [], 0
    if parts:
        yield files, _together(parts)


def _together(parts: Sequence[GroupRead]) -> GroupRead:
    told = Counter(session_id for part in parts for session_id in part.session_ids)
    early = [session_id for part in parts for session_id in part.early.session_ids]
    # Of a session told in two groups neither knew all.
    whole = [session_id for session_id in early if told[session_id] == 1]
    return GroupRead(
        outcomes=[outcome for part in parts for outcome in part.outcomes],
        session_ids=list(told),
        columns=_joined(part.columns for part in parts),
        early=Analysed(whole, _joined(part.early.columns for part in parts), [], with_others=len(whole) < len(early)),
    )


def _joined(parts: Iterable[Columns]) -> Columns:
    columns: Columns = {}
    for part in parts:
        for table, batches in part.items():
            columns.setdefault(table, []).extend(batches)
    return columns
