"""Records of sources as columns for the fact tables, and those columns into the store.

The columns are built where the source is read, in a worker process if there are any: of a large file nothing but Arrow columns
is kept and sent, 1 % of its bytes, however many record objects were made on the way.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import msgspec

from ingest.records import Call, CardEvent, Compaction, Event, HistoryEntry, Problem, Prompt, Response, Result, SourceRecord
from ingest.store.columns import arrow, column, fields

if TYPE_CHECKING:
    import duckdb

Columns = dict[str, list[Any]]
"""Record batches by table."""

RECORD_TABLES: dict[type[SourceRecord], str] = {
    Prompt: "fact_prompt",
    Response: "fact_response",
    Result: "fact_result",
    Compaction: "fact_compaction",
    Event: "fact_event",
    CardEvent: "fact_card_event",
}
CALL_TABLE = "fact_call"
ENTRY_TABLE = "fact_compaction_entry"
PROBLEM_TABLE = "fact_problem"
SOURCE_TABLES = (*RECORD_TABLES.values(), CALL_TABLE, ENTRY_TABLE, PROBLEM_TABLE)
"""All tables whose rows belong to a source and go with it."""

_RECORD_HEAD = ("source_id", "seq", "byte_offset", "byte_length", "line")
_CALL_HEAD = ("source_id", "seq", "session_id")
_ENTRY_HEAD = ("source_id", "seq", "entry_no", "session_id")

BATCH_ROWS = 20_000
"""So many records are objects at one time; the rest are columns already."""


class FactColumns:
    """Takes records source by source and turns them into record batches, `BATCH_ROWS` at a time."""

    def __init__(self) -> None:
        self.batches: Columns = {}
        self.problems_by_source: dict[int, int] = {}
        self._records: dict[type[SourceRecord], list[tuple[int, int, SourceRecord]]] = {kind: [] for kind in RECORD_TABLES}
        self._problems: list[tuple[int, Problem]] = []
        self._held = 0

    def add(self, source_id: int, seq: int, record: SourceRecord) -> None:
        self._records[type(record)].append((source_id, seq, record))
        self._held += 1
        if self._held >= BATCH_ROWS:
            self.flush()

    def add_problem(self, source_id: int, problem: Problem) -> None:
        self._problems.append((source_id, problem))
        self.problems_by_source[source_id] = self.problems_by_source.get(source_id, 0) + 1

    def flush(self) -> None:
        for kind, rows in self._records.items():
            if rows:
                self._flush_records(kind, rows)
                rows.clear()
        if self._problems:
            heads = [(source_id, problem.offset) for source_id, problem in self._problems]
            self._append(PROBLEM_TABLE, ("source_id", "byte_offset"), heads, Problem, [p for _, p in self._problems])
            self._problems.clear()
        self._held = 0

    def _flush_records(self, kind: type[SourceRecord], rows: list[tuple[int, int, SourceRecord]]) -> None:
        places = [
            (source_id, seq, record.place.offset, record.place.length, record.place.line) for source_id, seq, record in rows
        ]
        self._append(RECORD_TABLES[kind], _RECORD_HEAD, places, kind, [record for _, _, record in rows])
        if kind is Response:
            calls = [(s, n, r.session_id, c) for s, n, r in rows if isinstance(r, Response) for c in r.calls]
            if calls:
                self._append(CALL_TABLE, _CALL_HEAD, [call[:3] for call in calls], Call, [call[3] for call in calls])
        elif kind is Compaction:
            kept = [
                (s, n, i, r.session_id, entry)
                for s, n, r in rows
                if isinstance(r, Compaction)
                for i, entry in enumerate(r.entries)
            ]
            if kept:
                self._append(ENTRY_TABLE, _ENTRY_HEAD, [e[:4] for e in kept], HistoryEntry, [e[4] for e in kept])

    def _append(
        self,
        table: str,
        head: Sequence[str],
        heads: Sequence[tuple[Any, ...]],
        kind: type[msgspec.Struct],
        rows: Sequence[msgspec.Struct],
    ) -> None:
        def refused(index: int, name: str, value: object) -> None:
            at = dict(zip(head, heads[index], strict=True))
            detail = f"{name} of a record cannot be kept and is left empty: {ascii(value)[:80]}"
            problem = Problem("value-out-of-range", detail, offset=at.get("byte_offset", 0), line=at.get("line", 0))
            self.add_problem(at["source_id"], problem)

        pa = arrow()
        columns: dict[str, Any] = {}
        for name, place in zip(head, zip(*heads, strict=True), strict=True):
            columns[name] = column(place, name, pa.string() if name == "session_id" else pa.int64(), refused)
        for name, values in struct_columns(kind, rows, skip=(*head, "offset")).items():
            columns[name] = column(values, name, fields(kind)[name], refused)
        self.batches.setdefault(table, []).append(pa.RecordBatch.from_pydict(columns))


def struct_columns(
    kind: type[msgspec.Struct], rows: Sequence[msgspec.Struct], skip: Iterable[str] = ()
) -> dict[str, Sequence[object]]:
    """The rows turned on their side: the values of each field that has a column."""
    names = [name for name in fields(kind) if name not in skip]
    if len(names) == 1:
        return {names[0]: [getattr(row, names[0]) for row in rows]}
    getter = attrgetter(*names)
    return dict(zip(names, zip(*map(getter, rows), strict=True), strict=True))


def insert_columns(con: duckdb.DuckDBPyConnection, table: str, batches: list[Any]) -> None:
    """`table` is a name from this package, never text of a log."""
    con.register("arriving", arrow().Table.from_batches(batches))
    try:
        con.execute(f"INSERT INTO {table} BY NAME SELECT * FROM arriving")
    finally:
        con.unregister("arriving")


def forget_sources(con: duckdb.DuckDBPyConnection, source_ids: Sequence[int]) -> None:
    for table in SOURCE_TABLES:
        con.execute(f"DELETE FROM {table} WHERE source_id IN (SELECT unnest(?::INTEGER[]))", [list(source_ids)])
