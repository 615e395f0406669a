"""Sessions whose findings no longer match their facts."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from ingest.store.assembly import SUB_AGENT
from ingest.store.facts import STARTS, Start, starts_as_values

if TYPE_CHECKING:
    import duckdb

    from ingest.store.writable import WritableStore


_SUB_AGENTS_OF = (
    f"SELECT DISTINCT session_id FROM fact_log WHERE contains(session_id, '{SUB_AGENT}') "
    f"AND split_part(session_id, '{SUB_AGENT}', 1) IN"
)


def mark_rows_dirty(con: duckdb.DuckDBPyConnection, starts: Sequence[Start]) -> None:
    """All sessions of which these sources say something from their starts on, as the facts stand now."""
    con.execute(
        f"INSERT INTO dirty_session SELECT DISTINCT session_id FROM fact_log l JOIN ({STARTS}) s "
        "ON l.source_id = s.source_id AND l.first_seq >= s.first_record",
        starts_as_values(starts),
    )


def mark_dirty(con: duckdb.DuckDBPyConnection, session_ids: Collection[str]) -> None:
    if session_ids:
        con.execute("INSERT INTO dirty_session SELECT unnest(?::VARCHAR[])", [list(session_ids)])


def mark_sub_agents_dirty(con: duckdb.DuckDBPyConnection, parents: Collection[str]) -> None:
    """What was read of a parent concerns its sub-agents, however soon its own findings were there."""
    con.execute(f"INSERT INTO dirty_session {_SUB_AGENTS_OF} (SELECT unnest(?::VARCHAR[]))", [list(parents)])


def mark_reordered_dirty(con: duckdb.DuckDBPyConnection, bytes_before: Mapping[int, int]) -> None:
    """Sessions of two sources of which the longer one is another since these grew: which copy of a record counts, and where
    it stands, depends on that order. To be called with the new lengths in the store."""
    sources = con.execute("SELECT source_id, bytes, source_path FROM fact_source").fetchall()
    now = {source_id: (-length, path) for source_id, length, path in sources}
    before = now | {source_id: (-length, now[source_id][1]) for source_id, length in bytes_before.items()}
    pairs = [
        (grown, other)
        for grown in bytes_before
        for other in now
        if (now[grown] < now[other]) != (before[grown] < before[other])
    ]
    if pairs:
        con.execute(
            "INSERT INTO dirty_session SELECT DISTINCT a.session_id "
            "FROM (SELECT unnest(?::INTEGER[]) AS grown, unnest(?::INTEGER[]) AS other) pair "
            "JOIN fact_log a ON a.source_id = pair.grown "
            "SEMI JOIN fact_log b ON b.source_id = pair.other AND b.session_id = a.session_id",
            [list(column) for column in zip(*pairs, strict=True)],
        )


def mark_all_dirty(con: duckdb.DuckDBPyConnection) -> None:
    con.execute("DELETE FROM dirty_session")
    con.execute("INSERT INTO dirty_session SELECT DISTINCT session_id FROM fact_log")


def dirty_sessions(store: WritableStore) -> list[tuple[str, int]]:
    """Each with the number of its records, in order of their first source, so that neighbours lie close together.

    What is said of a parent (its telemetry, its log) concerns its sub-agents too: they are marked first, in a transaction of
    their own, or a kill after the parent's findings would leave them forgotten.
    """
    asked = "SELECT session_id FROM dirty_session"
    if store.con.execute(f"{asked} LIMIT 1").fetchone() is None:
        return []
    children = f"{_SUB_AGENTS_OF} ({asked}) AND session_id NOT IN ({asked})"
    if store.con.execute(f"{children} LIMIT 1").fetchone() is not None:
        with store.change() as con:
            con.execute(f"INSERT INTO dirty_session {children}")
    return store.con.execute(
        "SELECT d.session_id, coalesce(sum(records), 0)::BIGINT FROM (SELECT DISTINCT session_id FROM dirty_session) d "
        "LEFT JOIN fact_log USING (session_id) GROUP BY d.session_id ORDER BY min(source_id), d.session_id"
    ).fetchall()
