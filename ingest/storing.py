"""What was read of a group of files, into the store with one transaction."""

from __future__ import annotations

from collections.abc import Sequence

from ingest.plan import Planned
from ingest.reading import UNREADABLE, GroupRead
from ingest.store.dirty import mark_sources_dirty
from ingest.store.facts import PROBLEM_TABLE, forget_sources, insert_columns
from ingest.store.sources import replace_source_rows
from ingest.store.writable import WritableStore


def store_group(store: WritableStore, group: Sequence[Planned], read: GroupRead) -> None:
    """A changed file's old rows go with the transaction that brings the new ones. The rows' statuses are settled here."""
    for file, outcome in zip(group, read.outcomes, strict=True):
        row = file.row
        if file.to_read.refusal is None:
            row.read_bytes, row.records = outcome.read_bytes, outcome.records
        if outcome.unreadable is not None:
            row.status = "unreadable"
        elif outcome.torn:
            row.status = "tail-pending"
    # A file that cannot be opened any more still said what it said.
    changed = [file.row.source_id for file in group if file.known and file.to_read.refusal is None]
    refused = [file.row.source_id for file in group if file.to_read.refusal is not None]
    with store.change() as con:
        if changed:
            mark_sources_dirty(con, changed)
            forget_sources(con, changed)
        if refused:
            con.execute(
                f"DELETE FROM {PROBLEM_TABLE} WHERE kind = ? AND source_id IN (SELECT unnest(?::INTEGER[]))",
                [UNREADABLE, refused],
            )
        for table, batches in read.columns.items():
            insert_columns(con, table, batches)
        replace_source_rows(con, [file.row for file in group])
        mark_sources_dirty(con, [file.row.source_id for file in group])
