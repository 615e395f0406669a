"""What the store says of itself, as text under a key: `analysis_version`, `published_at`, a demo's `label`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import duckdb


def read_info(con: duckdb.DuckDBPyConnection, key: str) -> str | None:
    row = con.execute("SELECT value FROM store_info WHERE key = ?", [key]).fetchone()
    return None if row is None else str(row[0])


def write_info(con: duckdb.DuckDBPyConnection, key: str, value: str) -> None:
    if read_info(con, key) != value:
        con.execute("DELETE FROM store_info WHERE key = ?", [key])
        con.execute("INSERT INTO store_info VALUES (?, ?)", [key, value])
