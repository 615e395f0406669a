"""The step from facts in columns (schema 4) to packed records (schema 5), for stores that were made before it.

The tables were named and shaped as the record types were then. Their sources may be gone, so nothing is read again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from ingest.records import Call, CardEvent, Compaction, Event, HistoryEntry, Place, Prompt, Response, Result, SourceRecord
from ingest.store.columns import insert_columns
from ingest.store.facts import FactRows

if TYPE_CHECKING:
    import duckdb

_TABLES: dict[type[SourceRecord], str] = {
    Prompt: "fact_prompt",
    Response: "fact_response",
    Result: "fact_result",
    Compaction: "fact_compaction",
    Event: "fact_event",
    CardEvent: "fact_card_event",
}
_HEAD = ("source_id", "seq", "byte_offset", "byte_length", "line")
_SOURCES_AT_ONCE = 200

_Key = tuple[int, int]
"""source_id and seq."""


def repack(con: duckdb.DuckDBPyConnection) -> None:
    tables = " UNION ALL ".join(f"SELECT source_id FROM {table}" for table in _TABLES.values())
    ids = [source_id for (source_id,) in con.execute(f"SELECT DISTINCT source_id FROM ({tables}) ORDER BY 1").fetchall()]
    paths = dict(con.execute("SELECT source_id, source_path FROM fact_source").fetchall())
    for start in range(0, len(ids), _SOURCES_AT_ONCE):
        _repack_sources(con, ids[start : start + _SOURCES_AT_ONCE], paths)
    # The place at which a grown source would be read on falls within the one row that it has now: it is read whole, once.
    con.execute("DELETE FROM source_mark")


def _repack_sources(con: duckdb.DuckDBPyConnection, ids: Sequence[int], paths: dict[int, str]) -> None:
    calls = _parts(con, "fact_call", Call, ids, "part")
    entries = _parts(con, "fact_compaction_entry", HistoryEntry, ids, "entry_no")
    by_source: dict[int, list[tuple[int, SourceRecord]]] = defaultdict(list)
    for kind, table in _TABLES.items():
        for (source_id, seq), place, content in _rows(con, table, ids):
            if kind is Response:
                content["calls"] = calls.get((source_id, seq), ())
            elif kind is Compaction:
                content["entries"] = entries.get((source_id, seq), ())
            record = kind(place=Place(paths.get(source_id, ""), *place), **content)
            by_source[source_id].append((seq, record))
    facts = FactRows()
    for source_id, rows in by_source.items():
        rows.sort(key=lambda row: row[0])
        facts.add_piece(source_id, 0, [record for _, record in rows])
    for table, batches in facts.columns().items():
        insert_columns(con, table, batches)


def _rows(
    con: duckdb.DuckDBPyConnection, table: str, ids: Sequence[int]
) -> Iterator[tuple[_Key, Sequence[int], dict[str, Any]]]:
    described = con.execute(f"SELECT column_name FROM (DESCRIBE {table})").fetchall()
    names = [name for (name,) in described if name not in _HEAD]
    selected = ", ".join((*_HEAD, *("epoch_us(ts)" if name == "ts" else name for name in names)))
    found = con.execute(f"SELECT {selected} FROM {table} WHERE source_id IN (SELECT unnest(?::INTEGER[]))", [list(ids)])
    for source_id, seq, offset, length, line, *values in found.fetchall():
        yield (source_id, seq), (offset, length, line), dict(zip(names, values, strict=True))


def _parts(
    con: duckdb.DuckDBPyConnection, table: str, kind: type[Struct], ids: Sequence[int], order: str
) -> dict[_Key, tuple[Any, ...]]:
    """The Structs that lived in a table of their own, by the record that holds them."""
    described = con.execute(f"SELECT column_name FROM (DESCRIBE {table})").fetchall()
    names = [name for (name,) in described if name in kind.__struct_fields__]
    found = con.execute(
        f"SELECT source_id, seq, {', '.join(names)} FROM {table} "
        f"WHERE source_id IN (SELECT unnest(?::INTEGER[])) ORDER BY {order}",
        [list(ids)],
    )
    parts: dict[_Key, list[Any]] = defaultdict(list)
    for source_id, seq, *values in found.fetchall():
        parts[source_id, seq].append(kind(**dict(zip(names, values, strict=True))))
    return {key: tuple(values) for key, values in parts.items()}
