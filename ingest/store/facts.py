"""Records of sources as columns for the fact tables, and those columns into the store.

The columns are built where the source is read, in a worker process if there are any: of a large file nothing but Arrow columns
is kept and sent, 1 % of its bytes, however many record objects were made on the way.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import msgspec

from ingest.records import (
    Call,
    CardEvent,
    Compaction,
    Event,
    HistoryEntry,
    Place,
    Problem,
    Prompt,
    Response,
    Result,
    SourceRecord,
)
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

Start = tuple[int, int, int]
"""A source, and from which of its records and bytes on it was read; 0 and 0 where it was read whole."""
STARTS = "SELECT unnest(?::INTEGER[]) AS source_id, unnest(?::BIGINT[]) AS first_record, unnest(?::BIGINT[]) AS first_byte"

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
            problems = [problem for _, problem in self._problems]
            self._append(PROBLEM_TABLE, ("source_id", "byte_offset"), heads, Problem, problems, problems)
            self._problems.clear()
        self._held = 0

    def _flush_records(self, kind: type[SourceRecord], rows: list[tuple[int, int, SourceRecord]]) -> None:
        heads = [(source_id, seq, (at := record.place).offset, at.length, at.line) for source_id, seq, record in rows]
        places = [record.place for _, _, record in rows]
        self._append(RECORD_TABLES[kind], _RECORD_HEAD, heads, kind, [record for _, _, record in rows], places)
        if kind is Response:
            calls = [((s, n, r.session_id), call, r.place) for s, n, r in rows if isinstance(r, Response) for call in r.calls]
            if calls:
                self._append(CALL_TABLE, _CALL_HEAD, *_turned(calls, Call))
        elif kind is Compaction:
            kept = [
                ((s, n, i, r.session_id), entry, r.place)
                for s, n, r in rows
                if isinstance(r, Compaction)
                for i, entry in enumerate(r.entries)
            ]
            if kept:
                self._append(ENTRY_TABLE, _ENTRY_HEAD, *_turned(kept, HistoryEntry))

    def _append(
        self,
        table: str,
        head: Sequence[str],
        heads: Sequence[tuple[Any, ...]],
        kind: type[msgspec.Struct],
        rows: Sequence[msgspec.Struct],
        places: Sequence[Place | Problem],
    ) -> None:
        def refused(index: int, name: str, value: object) -> None:
            detail = f"{name} of a record cannot be kept and is left empty: {ascii(value)[:80]}"
            problem = Problem("value-out-of-range", detail, places[index].offset, places[index].line)
            self.add_problem(heads[index][0], problem)

        pa = arrow()
        columns: dict[str, Any] = {}
        for name, place in zip(head, zip(*heads, strict=True), strict=True):
            columns[name] = column(place, name, pa.string() if name == "session_id" else pa.int64(), refused)
        for name, values in struct_columns(kind, rows, skip=(*head, "offset")).items():
            columns[name] = column(values, name, fields(kind)[name], refused)
        self.batches.setdefault(table, []).append(pa.RecordBatch.from_pydict(columns))


def _turned(
    rows: Sequence[tuple[tuple[Any, ...], msgspec.Struct, Place]], kind: type[msgspec.Struct]
) -> tuple[list[tuple[Any, ...]], type[msgspec.Struct], list[msgspec.Struct], list[Place]]:
    return [row[0] for row in rows], kind, [row[1] for row in rows], [row[2] for row in rows]


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


def forget_rows(con: duckdb.DuckDBPyConnection, starts: Sequence[Start]) -> None:
    """Of each source all rows from its start on."""
    for table in SOURCE_TABLES:
        place, first = ("byte_offset", "first_byte") if table == PROBLEM_TABLE else ("seq", "first_record")
        con.execute(
            f"DELETE FROM {table} t USING ({STARTS}) s WHERE t.source_id = s.source_id AND t.{place} >= s.{first}",
            starts_as_values(starts),
        )


def starts_as_values(starts: Sequence[Start]) -> list[list[int]]:
    """For the parameters of STARTS."""
    return [list(column) for column in zip(*starts, strict=True)] or [[], [], []]
