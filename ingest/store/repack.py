"""The step from facts in columns (schema 4) to packed records (schema 5), for stores that were made before it.

The tables were named and shaped as the record types were then. Their sources may be gone, so nothing is read again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from operator import itemgetter
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
_RECORDS_AT_ONCE = 20_000

_Key = tuple[int, int]
"""source_id and seq."""


class _Range(Struct, frozen=True):
    """Records of one source, from one number to before another."""

    source_id: int
    first: int
    end: int


def repack(con: duckdb.DuckDBPyConnection) -> None:
    paths = dict(con.execute("SELECT source_id, source_path FROM fact_source").fetchall())
    for ranges in _ranges(con):
        _repack_ranges(con, ranges, paths)
    # The place at which a grown source would be read on falls within a row that it has now: it is read whole, once.
    con.execute("DELETE FROM source_mark")


def _ranges(con: duckdb.DuckDBPyConnection) -> Iterator[list[_Range]]:
    """All there is, as much at once as memory holds whatever a source's size."""
    tables = " UNION ALL ".join(f"SELECT source_id, seq FROM {table}" for table in _TABLES.values())
    counted = con.execute(f"SELECT source_id, max(seq) + 1 FROM ({tables}) GROUP BY source_id ORDER BY source_id").fetchall()
    ranges: list[_Range] = []
    held = 0
    for source_id, end in counted:
        for first in range(0, end, _RECORDS_AT_ONCE):
            ranges.append(_Range(source_id, first, min(first + _RECORDS_AT_ONCE, end)))
            held += ranges[-1].end - first
            if held >= _RECORDS_AT_ONCE:
                yield ranges
                ranges, held = [], 0
    if ranges:
        yield ranges


def _repack_ranges(con: duckdb.DuckDBPyConnection, ranges: Sequence[_Range], paths: dict[int, str]) -> None:
    calls = _parts(con, "fact_call", Call, ranges, "part")
    entries = _parts(con, "fact_compaction_entry", HistoryEntry, ranges, "entry_no")
    by_source: dict[int, list[tuple[int, SourceRecord]]] = defaultdict(list)
    for kind, table in _TABLES.items():
        for (source_id, seq), place, content in _rows(con, table, ranges):
            if kind is Response:
                content["calls"] = calls.get((source_id, seq), ())
            elif kind is Compaction:
                content["entries"] = entries.get((source_id, seq), ())
            record = kind(place=Place(paths.get(source_id, ""), *place), **content)
            by_source[source_id].append((seq, record))
    facts = FactRows()
    for source_id, rows in by_source.items():
        rows.sort(key=itemgetter(0))
        facts.add_piece(source_id, rows[0][0], [record for _, record in rows])
    for table, batches in facts.columns().items():
        insert_columns(con, table, batches)


_CHOSEN = (
    "t JOIN (SELECT unnest(?::INTEGER[]) AS source_id, unnest(?::BIGINT[]) AS first, unnest(?::BIGINT[]) AS past) r "
    "ON t.source_id = r.source_id AND t.seq >= r.first AND t.seq < r.past"
)


def _values(ranges: Sequence[_Range]) -> list[list[int]]:
    return [[one.source_id for one in ranges], [one.first for one in ranges], [one.end for one in ranges]]


def _rows(
    con: duckdb.DuckDBPyConnection, table: str, ranges: Sequence[_Range]
) -> Iterator[tuple[_Key, Sequence[int], dict[str, Any]]]:
    described = con.execute(f"SELECT column_name FROM (DESCRIBE {table})").fetchall()
    names = [name for (name,) in described if name not in _HEAD]
    selected = ", ".join((*(f"t.{name}" for name in _HEAD), *("epoch_us(ts)" if name == "ts" else name for name in names)))
    found = con.execute(f"SELECT {selected} FROM {table} {_CHOSEN}", _values(ranges))
    for source_id, seq, offset, length, line, *values in found.fetchall():
        yield (source_id, seq), (offset, length, line), dict(zip(names, values, strict=True))


def _parts(
    con: duckdb.DuckDBPyConnection, table: str, kind: type[Struct], ranges: Sequence[_Range], order: str
) -> dict[_Key, tuple[Any, ...]]:
    """The Structs that lived in a table of their own, by the record that holds them."""
    described = con.execute(f"SELECT column_name FROM (DESCRIBE {table})").fetchall()
    names = [name for (name,) in described if name in kind.__struct_fields__]
    found = con.execute(
        f"SELECT t.source_id, t.seq, {', '.join(names)} FROM {table} {_CHOSEN} ORDER BY {order}", _values(ranges)
    )
    parts: dict[_Key, list[Any]] = defaultdict(list)
    for source_id, seq, *values in found.fetchall():
        parts[source_id, seq].append(kind(**dict(zip(names, values, strict=True))))
    return {key: tuple(values) for key, values in parts.items()}
