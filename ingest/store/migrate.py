"""Bringing the facts of a store to this program's schema, one numbered step after the other.

Facts are migrated because their source may be gone. A step that ran is never edited, which the checksum kept with it proves:
two stores of one schema number are alike.
"""

from __future__ import annotations

from collections.abc import Set
from typing import TYPE_CHECKING

from ingest.errors import ForeignFile, StoreDamaged, StoreTooNew
from ingest.store.info import write_info
from ingest.store.repack import repack
from ingest.store.sql_files import checksum, migration_texts

if TYPE_CHECKING:
    import duckdb

_MIGRATION_TABLE = """
CREATE TABLE IF NOT EXISTS schema_migration (
    number INTEGER NOT NULL, name VARCHAR NOT NULL, checksum VARCHAR NOT NULL, applied_at TIMESTAMP NOT NULL
)"""

_PACKED = 5
"""The one step that SQL alone cannot do."""


def migrate(con: duckdb.DuckDBPyConnection, where: str) -> None:
    """All missing steps in one transaction. Raises StoreTooNew, StoreDamaged."""
    applied = _applied(con, where)
    known = migration_texts()
    newest = max(number for number, _, _ in known)
    if applied and max(applied) > newest:
        raise StoreTooNew(
            f"{where} has schema {max(applied)}, and this program knows none after {newest}. "
            "Upgrade loopscope, or name another store with --db."
        )
    missing = []
    for number, name, text in known:
        if number not in applied:
            missing.append((number, name, text))
        elif applied[number] != checksum(text):
            raise StoreDamaged(
                f"{where} was made with another text of {name} than this program has. "
                "Use the program that made it, or move it away and ingest again."
            )
    if not missing:
        return
    con.execute("BEGIN")
    con.execute(_MIGRATION_TABLE)
    for number, name, text in missing:
        con.execute(text)
        if number == _PACKED:
            repack(con)
        con.execute("INSERT INTO schema_migration VALUES (?, ?, ?, now() AT TIME ZONE 'UTC')", [number, name, checksum(text)])
    write_info(con, "schema", str(newest))
    con.execute("COMMIT")


def _applied(con: duckdb.DuckDBPyConnection, where: str) -> dict[int, str]:
    tables = {str(name) for (name,) in con.execute("SELECT table_name FROM duckdb_tables()").fetchall()}
    refuse_foreign(tables, where)
    return dict(con.execute("SELECT number, checksum FROM schema_migration").fetchall()) if tables else {}


def refuse_foreign(tables: Set[str], where: str) -> None:
    """An empty database may become a store. Raises ForeignFile."""
    if tables and "schema_migration" not in tables:
        raise ForeignFile(f"{where} is a DuckDB database, but none of loopscope's. Name another path with --db.")
