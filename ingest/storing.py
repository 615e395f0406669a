"""What was read of a group of files, into the store with one transaction."""

from __future__ import annotations

from collections.abc import Sequence

from ingest.plan import Planned
from ingest.reading import UNREADABLE, GroupRead
from ingest.store.dirty import mark_reordered_dirty, mark_rows_dirty
from ingest.store.facts import PROBLEM_TABLE, forget_rows, insert_columns
from ingest.store.sources import replace_marks, replace_source_rows
from ingest.store.writable import WritableStore


def store_group(store: WritableStore, group: Sequence[Planned], read: GroupRead) -> None:
    """What a changed file said goes with the transaction that brings what it says now; of one that only grew, what may have
    changed at its end. The rows' statuses are settled here."""
    for file, outcome in zip(group, read.outcomes, strict=True):
        row = file.row
        if file.to_read.refusal is None:
            row.read_bytes, row.records = outcome.read_bytes, outcome.records
        if outcome.unreadable is not None:
            row.status = "unreadable"
        elif outcome.torn:
            row.status = "tail-pending"
    # A file that cannot be opened any more still said what it said.
    refused = [file.row.source_id for file in group if file.to_read.refusal is not None]
    was_read = [(file, outcome) for file, outcome in zip(group, read.outcomes, strict=True) if file.to_read.refusal is None]
    starts = [(outcome.source_id, outcome.first_record, outcome.first_byte) for _, outcome in was_read]
    known = [start for start, (file, _) in zip(starts, was_read, strict=True) if file.before is not None]
    grown = {file.row.source_id: file.before.bytes for file, outcome in was_read if file.before and outcome.first_byte}
    with store.change() as con:
        if known:
            mark_rows_dirty(con, known)
            forget_rows(con, known)
        if refused:
            con.execute(
                f"DELETE FROM {PROBLEM_TABLE} WHERE kind = ? AND source_id IN (SELECT unnest(?::INTEGER[]))",
                [UNREADABLE, refused],
            )
        for table, batches in read.columns.items():
            insert_columns(con, table, batches)
        replace_source_rows(con, [file.row for file in group])
        replace_marks(con, {outcome.source_id: outcome.mark for _, outcome in was_read})
        mark_rows_dirty(con, starts)
        if grown:
            mark_reordered_dirty(con, grown)
