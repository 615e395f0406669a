"""All that a published store says, for tests that hold two stores made in different ways to be the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb

from tests.support.stored_records import stored_records

_OF_SOURCES = "source_path, format, client, root, bytes, read_bytes, records, status, reader_version"
"""Not the number that a source was given, nor when it was read, nor the inode: they differ between runs by right."""


def content(db: Path) -> dict[str, list[Any]]:
    """The rows of every table that holds facts or findings."""
    with duckdb.connect(db, read_only=True) as con:
        tables = [name for (name,) in con.execute("SELECT table_name FROM duckdb_tables()").fetchall()]
        queries = {name: f"SELECT * FROM {name}" for name in tables if name.startswith("found_")}
        # Nor in how many pieces a source was read.
        queries["fact_tool_time"] = (
            "SELECT source_path, tool, duration_ms FROM fact_tool_time JOIN fact_source USING (source_id)"
        )
        queries["fact_problem"] = (
            "SELECT source_path, p.* EXCLUDE (source_id) FROM fact_problem p JOIN fact_source USING (source_id)"
        )
        queries["fact_source"] = f"SELECT {_OF_SOURCES} FROM fact_source"
        queries["dirty_session"] = "SELECT * FROM dirty_session"
        queries["orphans"] = " UNION ALL ".join(
            f"SELECT '{name}', source_id FROM {name} ANTI JOIN fact_source USING (source_id)"
            for name in tables
            if name.startswith("fact_") and name != "fact_source"
        )
        rows: dict[str, list[Any]] = {name: con.execute(query).fetchall() for name, query in queries.items()}
        rows["records"] = [(path, repr(record)) for path, record in stored_records(con)]
        return {name: sorted(of_table, key=repr) for name, of_table in rows.items()}


def first_difference(one: dict[str, list[Any]], other: dict[str, list[Any]]) -> str:
    """For a message that can be read: whole stores do not fit on a screen. Empty where there is none."""
    for table in sorted(one.keys() | other.keys()):
        ours, theirs = one.get(table, []), other.get(table, [])
        if ours != theirs:
            known_here, known_there = set(map(repr, ours)), set(map(repr, theirs))
            only_here, only_there = sorted(known_here - known_there)[:2], sorted(known_there - known_here)[:2]
            return f"{table}: {len(ours)} and {len(theirs)} rows; only here {only_here}, only there {only_there}"
    return ""
