"""What was read of a group of files, into the store with one transaction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ingest.plan import Planned, keep_content
from ingest.reading import UNREADABLE, GroupRead
from ingest.store.columns import insert_columns
from ingest.store.dirty import mark_dirty, mark_reordered_dirty, mark_rows_dirty, mark_sub_agents_dirty
from ingest.store.durations import mark_durations_behind
from ingest.store.facts import LOG_TABLE, PROBLEM_TABLE, forget_rows
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
        if outcome.untouched:
            if file.before is not None:
                keep_content(row, file.before)
        else:
            row.read_bytes, row.records = outcome.read_bytes, outcome.records
        if outcome.unreadable is not None:
            row.status = "unreadable"
        elif outcome.torn:
            row.status = "tail-pending"
    untouched = [outcome.source_id for outcome in read.outcomes if outcome.untouched]
    was_read = [(file, outcome) for file, outcome in zip(group, read.outcomes, strict=True) if not outcome.untouched]
    starts = [(outcome.source_id, outcome.first_record, outcome.first_byte) for _, outcome in was_read]
    changed = [start for start, (file, _) in zip(starts, was_read, strict=True) if file.before is not None]
    grown = {file.row.source_id: file.before.bytes for file, outcome in was_read if file.before and outcome.first_byte}
    with store.change() as con:
        known = _known_before(con, read.session_ids)
        if changed:
            mark_rows_dirty(con, changed)
            forget_rows(con, changed)
        if untouched:
            con.execute(
                f"DELETE FROM {PROBLEM_TABLE} WHERE kind = ? AND source_id IN (SELECT unnest(?::INTEGER[]))",
                [UNREADABLE, untouched],
            )
        for table, batches in read.columns.items():
            insert_columns(con, table, batches)
        replace_source_rows(con, [file.row for file in group], known=any(file.before for file in group))
        replace_marks(con, {outcome.source_id: outcome.mark for _, outcome in was_read}, known=bool(changed))
        read_whole = {outcome.source_id for _, outcome in was_read if not outcome.first_record}
        analysed = [session_id for session_id in read.early.session_ids if known.get(session_id, read_whole) <= read_whole]
        replace_findings(
            con,
            analysed,
            read.early.columns,
            known=not known.keys().isdisjoint(analysed),
            with_others=read.early.with_others or len(analysed) < len(read.early.session_ids),
        )
        mark_dirty(con, set(read.session_ids).difference(analysed))
        mark_sub_agents_dirty(con, read.session_ids)
        mark_durations_behind(con)
        if grown:
            mark_reordered_dirty(con, grown)
    return analysed


_UNTOLD = 0
"""The source of a session that is dirty though no source tells of it: it may have findings of before."""


def _known_before(con: duckdb.DuckDBPyConnection, session_ids: Sequence[str]) -> dict[str, set[int]]:
    """Of the sessions those that the store knows of, with the sources that tell of them."""
    rows = con.execute(
        "SELECT DISTINCT session_id, source_id FROM ("
        f"SELECT session_id, source_id FROM {LOG_TABLE} UNION ALL SELECT session_id, {_UNTOLD} FROM dirty_session"
        ") WHERE session_id IN (SELECT unnest(?::VARCHAR[]))",
        [list(session_ids)],
    )
    known: dict[str, set[int]] = {}
    for session_id, source_id in rows.fetchall():
        known.setdefault(session_id, set()).add(source_id)
    return known
