"""Sessions whose findings no longer match their facts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ingest.store.facts import RECORD_TABLES
from ingest.store.sessions import SUB_AGENT

if TYPE_CHECKING:
    import duckdb

    from ingest.store.writable import WritableStore

_SESSIONS = " UNION ALL ".join(f"SELECT session_id, source_id FROM {table}" for table in RECORD_TABLES.values())


def mark_sources_dirty(con: duckdb.DuckDBPyConnection, source_ids: list[int]) -> None:
    """All sessions of which these sources say something, as the facts stand now."""
    con.execute(
        f"INSERT INTO dirty_session SELECT DISTINCT session_id FROM ({_SESSIONS}) "
        "WHERE source_id IN (SELECT unnest(?::INTEGER[]))",
        [source_ids],
    )


def mark_all_dirty(con: duckdb.DuckDBPyConnection) -> None:
    con.execute("DELETE FROM dirty_session")
    con.execute(f"INSERT INTO dirty_session SELECT DISTINCT session_id FROM ({_SESSIONS})")


def dirty_sessions(store: WritableStore) -> list[tuple[str, int]]:
    """Each with the number of its records, in order of their first source, so that neighbours lie close together.

    What is said of a parent (its telemetry, its log) concerns its sub-agents too: they are marked first, in a transaction of
    their own, or a kill after the parent's findings would leave them forgotten.
    """
    asked = "SELECT session_id FROM dirty_session"
    if store.con.execute(f"{asked} LIMIT 1").fetchone() is None:
        return []
    children = (
        f"SELECT DISTINCT session_id FROM ({_SESSIONS}) WHERE contains(session_id, '{SUB_AGENT}') "
        f"AND split_part(session_id, '{SUB_AGENT}', 1) IN ({asked}) AND session_id NOT IN ({asked})"
    )
    if store.con.execute(f"{children} LIMIT 1").fetchone() is not None:
        with store.change() as con:
            con.execute(f"INSERT INTO dirty_session {children}")
    return store.con.execute(
        f"SELECT d.session_id, count(source_id) FROM (SELECT DISTINCT session_id FROM dirty_session) d "
        f"LEFT JOIN ({_SESSIONS}) USING (session_id) GROUP BY d.session_id ORDER BY min(source_id), d.session_id"
    ).fetchall()
