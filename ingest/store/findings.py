"""The tables of findings: made anew when the analysis changes, filled session by session.

Findings are only derived. Another version of the analysis, other guards or another text of the tables drop them all, make them
empty and mark every session dirty, in one transaction; so a kill leaves either the old findings or a store that heals.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ingest.store.columns import Columns, insert_columns
from ingest.store.dirty import mark_all_dirty
from ingest.store.info import read_info, write_info
from ingest.store.sql_files import checksum, sql_text
from ingest.store.writable import WritableStore

if TYPE_CHECKING:
    import duckdb


def renew_findings(
    store: WritableStore, analysis_version: int, guards: Sequence[tuple[str, str, str]], *, anew: bool = False
) -> str | None:
    """Why all findings were thrown away, where there were any; None where not. anew: without another reason than that.

    Does nothing, not even a write, where the store's findings and views are this analysis's."""
    tables, views = sql_text("findings.sql"), sql_text("views.sql")
    wanted = {
        "analysis_version": str(analysis_version),
        "findings_checksum": checksum(tables + repr(sorted(guards))),
        "views_checksum": checksum(views),
    }
    before = {key: read_info(store.con, key) for key in wanted}
    stale = {key for key, value in wanted.items() if before[key] != value}
    if not stale and not anew:
        return None
    with store.change() as con:
        if anew or stale != {"views_checksum"}:
            _drop_tables(con)  # those of another version too, whatever they were called
            con.execute(tables)
            if guards:
                con.executemany("INSERT INTO found_guards (guard, about, source) VALUES (?, ?, ?)", guards)
            mark_all_dirty(con)
        con.execute(views)
        for key, value in wanted.items():
            write_info(con, key, value)
    if before["analysis_version"] is None or (stale == {"views_checksum"} and not anew):
        return None
    if anew:
        return "as asked"
    if "analysis_version" in stale:
        return f"version {analysis_version} of the analysis finds other things than version {before['analysis_version']}"
    return "this program has other guards or keeps more of what it finds"


def replace_findings(
    con: duckdb.DuckDBPyConnection,
    session_ids: Sequence[str],
    columns: Columns,
    *,
    known: bool = True,
    with_others: bool = False,
) -> None:
    """The findings of these sessions, whole, in place of what was there; the sessions are clean then.

    columns: of the tables `found_*`. known: whether the store may have findings of these sessions, or hold them for dirty.
    with_others: whether the columns hold rows of other sessions, to be left out."""
    if known:
        chosen = [list(session_ids)]
        for table in _finding_tables(con):
            con.execute(f"DELETE FROM {table} WHERE session_id IN (SELECT unnest(?::VARCHAR[]))", chosen)
        con.execute("DELETE FROM dirty_session WHERE session_id IN (SELECT unnest(?::VARCHAR[]))", chosen)
    for table, batches in columns.items():
        insert_columns(con, table, batches, of=session_ids if with_others else None)


def count_findings(con: duckdb.DuckDBPyConnection) -> dict[str, int]:
    return dict(con.execute("SELECT kind, count(*) FROM found_findings GROUP BY kind ORDER BY kind").fetchall())


def _drop_tables(con: duckdb.DuckDBPyConnection) -> None:
    tables = con.execute("SELECT table_name FROM duckdb_tables() WHERE starts_with(table_name, 'found_')").fetchall()
    for (name,) in tables:
        con.execute(f'DROP TABLE "{name}"')


def _finding_tables(con: duckdb.DuckDBPyConnection) -> list[str]:
    found = con.execute(
        "SELECT table_name FROM duckdb_columns() WHERE starts_with(table_name, 'found_') AND column_name = 'session_id'"
    )
    return [name for (name,) in found.fetchall()]
