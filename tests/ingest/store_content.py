"""All that a published store says, for tests that hold two stores made in different ways to be the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb

_OF_SOURCES = "source_path, format, client, root, bytes, read_bytes, records, status, reader_version"
"""Not the number that a source was given, nor when it was read, nor the inode: they differ between runs by right."""


def content(db: Path) -> dict[str, list[Any]]:
    """The rows of every table that holds facts or findings."""
    with duckdb.connect(db, read_only=True) as con:
        tables = [name for (name,) in con.execute("SELECT table_name FROM duckdb_tables()").fetchall()]
        queries = {name: f"SELECT * FROM {name}" for name in tables if name.startswith("found_")}
        queries |= {
            name: f"SELECT source_path, f.* EXCLUDE (source_id) FROM {name} f JOIN fact_source USING (source_id)"
            for name in tables
            if name.startswith("fact_") and name != "fact_source"
        }
        queries["fact_source"] = f"SELECT {_OF_SOURCES} FROM fact_source"
        queries["dirty_session"] = "SELECT * FROM dirty_session"
        queries["orphans"] = " UNION ALL ".join(
            f"SELECT '{name}', source_id FROM {name} ANTI JOIN fact_source USING (source_id)"
            for name in tables
            if name.startswith("fact_") and name != "fact_source"
        )
        return {name: sorted(con.execute(query).fetchall(), key=repr) for name, query in queries.items()}


def first_difference(one: dict[str, list[Any]], other: dict[str, list[Any]]) -> str:
    """For a message that can be read: whole stores do not fit on a screen. Empty where there is none."""
    for table in sorted(one.keys() | other.keys()):
        ours, theirs = map(repr, one.get(table, [])), map(repr, other.get(table, []))
        only_one, only_other = sorted(set(ours)), sorted(set(theirs))
        if one.get(table) != other.get(table):
            missing = [row for row in only_other if row not in only_one][:2]
            further = [row for row in only_one if row not in only_other][:2]
            return f"{table}: {len(one.get(table, []))} and {len(other.get(table, []))} rows; only here {further}, only there {missing}"
    return ""
