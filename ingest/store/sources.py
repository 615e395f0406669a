"""What the store knows of each source: enough to tell an unchanged file without opening it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from ingest.store.columns import arrow, insert_columns, record_batch

if TYPE_CHECKING:
    import duckdb

NO_LOG = "no-log"
"""Status of a file that is remembered only so that it need not be opened again; no view shows it."""

_CHOSEN = "source_id IN (SELECT unnest(?::INTEGER[]))"


class SourceRow(Struct):
    """A row of fact_source. Times in `*_ns` are nanoseconds since the epoch, `read_at` microseconds."""

    source_id: int
    source_path: str
    format: str
    client: str
    root: str
    bytes: int
    read_bytes: int
    records: int
    status: str
    read_at: int
    mtime_ns: int
    ctime_ns: int
    inode: int
    reader_version: int


def known_sources(con: duckdb.DuckDBPyConnection) -> dict[str, SourceRow]:
    """By path."""
    names = SourceRow.__struct_fields__
    selected = ", ".join("epoch_us(read_at)" if name == "read_at" else name for name in names)
    rows = con.execute(f"SELECT {selected} FROM fact_source").fetchall()
    return {row[1]: SourceRow(*row) for row in rows}


def roots_of(con: duckdb.DuckDBPyConnection) -> list[str]:
    """The paths that were given, in all runs together."""
    return [root for (root,) in con.execute("SELECT DISTINCT root FROM fact_source ORDER BY root").fetchall()]


def replace_source_rows(con: duckdb.DuckDBPyConnection, rows: Sequence[SourceRow], *, known: bool = True) -> None:
    """known: whether the store may have any of them."""
    if known:
        con.execute(f"DELETE FROM fact_source WHERE {_CHOSEN}", [[row.source_id for row in rows]])
    insert_columns(con, "fact_source", [record_batch(rows)])


def mark_gone(con: duckdb.DuckDBPyConnection, source_ids: Sequence[int]) -> None:
    """Their facts stay: what a pruned log said is still true."""
    con.execute(f"UPDATE fact_source SET status = 'gone' WHERE {_CHOSEN}", [list(source_ids)])


def forget_source_rows(con: duckdb.DuckDBPyConnection, source_ids: Sequence[int]) -> None:
    con.execute(f"DELETE FROM fact_source WHERE {_CHOSEN}", [list(source_ids)])


def marks_of(con: duckdb.DuckDBPyConnection, source_ids: Sequence[int]) -> dict[int, bytes]:
    """Of those that have one."""
    found = con.execute(f"SELECT source_id, mark FROM source_mark WHERE {_CHOSEN}", [list(source_ids)])
    return dict(found.fetchall())


def replace_marks(con: duckdb.DuckDBPyConnection, marks: Mapping[int, bytes | None], *, known: bool = True) -> None:
    """None: it has none any more. known: whether the store may have any of them."""
    if known:
        con.execute(f"DELETE FROM source_mark WHERE {_CHOSEN}", [list(marks)])
    kept = {source_id: mark for source_id, mark in marks.items() if mark is not None}
    if kept:
        pa = arrow()
        batch = pa.RecordBatch.from_pydict({"source_id": pa.array(kept.keys()), "mark": pa.array(kept.values(), pa.binary())})
        insert_columns(con, "source_mark", [batch])
