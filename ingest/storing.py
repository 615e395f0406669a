"""What was read of a group of files, into the store with one transaction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ingest.plan import Planned
from ingest.reading import UNREADABLE, GroupRead
from ingest.store.columns import insert_columns
from ingest.store.dirty import mark_reordered_dirty, mark_rows_dirty
from ingest.store.facts import PROBLEM_TABLE, forget_rows
from ingest.store.findings import replace_findings
from ingest.store.sources import replace_marks, replace_source_rows
from ingest.store.writable import WritableStore

if TYPE_CHECKING:
    import duckdb


def store_group(store: WritableStore, group: Sequence[Planned], read: GroupRead) -> list[str]:
    """What a changed file said goes with the transaction that brings what it says now; of one that only grew, what may have
    changed at its end. The rows' statuses are settled here. Returns the sessions that have their findings by now."""
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
    read_whole = [outcome.source_id for _, outcome in was_read if not outcome.first_record]
    with store.change() as con:
        are_new = read.early.session_ids and _are_new(con, read.early.session_ids)
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
        return _keep_early_findings(con, read, read_whole, are_new=bool(are_new))


def _are_new(con: duckdb.DuckDBPyConnection, session_ids: Sequence[str]) -> bool:
    known = con.execute("SELECT 1 FROM fact_log WHERE session_id IN (SELECT unnest(?::VARCHAR[])) LIMIT 1", [list(session_ids)])
    return not known.fetchall()


def _keep_early_findings(
    con: duckdb.DuckDBPyConnection, read: GroupRead, read_whole: Sequence[int], *, are_new: bool
) -> list[str]:
    """The findings of sessions about which nothing but what was just read is known; of the others they are told later."""
    early = read.early.session_ids
    if not early:
        return []
    more = con.execute(
        "SELECT DISTINCT session_id FROM fact_log WHERE session_id IN (SELECT unnest(?::VARCHAR[])) "
        "AND source_id NOT IN (SELECT unnest(?::INTEGER[]))",
        [list(early), list(read_whole)],
    )
    told_elsewhere = {session_id for (session_id,) in more.fetchall()}
    kept = [session_id for session_id in early if session_id not in told_elsewhere]
    replace_findings(con, kept, read.early.columns, known=not are_new)
    return kept
