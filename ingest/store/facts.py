"""Records of sources as rows for the fact tables.

The rows are made where the source is read, in a worker process if there are any: of a large file nothing is kept and sent but
its packed records, 2 % of its bytes, however many record objects were made on the way.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from ingest.records import Compaction, Event, Problem, SourceRecord
from ingest.store.columns import Columns, record_batch
from ingest.store.record_pack import pack

if TYPE_CHECKING:
    import duckdb

LOG_TABLE = "fact_log"
PROBLEM_TABLE = "fact_problem"
TIME_TABLE = "fact_tool_time"
SOURCE_TABLES = (LOG_TABLE, PROBLEM_TABLE, TIME_TABLE)
"""All tables whose rows belong to a source and go with it."""

Start = tuple[int, int, int]
"""A source, and from which of its records and bytes on it was read; 0 and 0 where it was read whole."""
STARTS = "SELECT unnest(?::INTEGER[]) AS source_id, unnest(?::BIGINT[]) AS first_record, unnest(?::BIGINT[]) AS first_byte"

_TOOL_CALL = "tool_call"
_PACK_RECORDS = 256
"""Records in a row. The database handles rows by the two thousand, whatever they hold: they have to be small."""


class LogRow(Struct, frozen=True, gc=False):
    """Records of one source about one session."""

    source_id: int
    first_seq: int
    """Not before the first record of the piece of the source that they come from, nor behind its last: what is read again
    replaces whole pieces. It rises with the rows of a session."""
    session_id: str
    records: int
    compactions: int
    packed: bytes


class ToolTimeRow(Struct, frozen=True, gc=False):
    source_id: int
    first_seq: int
    tool: str
    duration_ms: float


class ProblemRow(Struct, frozen=True, gc=False):
    source_id: int
    byte_offset: int
    line: int
    kind: str
    detail: str


class FactRows:
    def __init__(self) -> None:
        self.problems_by_source: dict[int, int] = defaultdict(int)
        self._logs: list[LogRow] = []
        self._times: list[ToolTimeRow] = []
        self._problems: list[ProblemRow] = []

    def add_piece(self, source_id: int, first_seq: int, records: Sequence[SourceRecord]) -> list[Sequence[SourceRecord]]:
        """Records of one source in its order, from its `first_seq`th on; given back by session, as the store will have them."""

        def refused(record: SourceRecord, name: str, value: object) -> None:
            detail = f"{name} of a record cannot be kept and is left empty: {ascii(value)[:80]}"
            self.add_problem(source_id, Problem("value-out-of-range", detail, record.place.offset, record.place.line))

        sessions: list[Sequence[SourceRecord]] = []
        for of_session in _by_session(records):
            kept: list[SourceRecord] = []
            for start in range(0, len(of_session), _PACK_RECORDS):
                packed, some = pack(of_session[start : start + _PACK_RECORDS], refused)
                compactions = sum(type(record) is Compaction for record in some)
                self._logs.append(LogRow(source_id, first_seq + start, some[0].session_id, len(some), compactions, packed))
                kept += some
            for record in kept:
                if type(record) is Event and record.name == _TOOL_CALL and record.tool and record.duration_ms is not None:
                    self._times.append(ToolTimeRow(source_id, first_seq, record.tool, record.duration_ms))
            sessions.append(kept)
        return sessions

    def add_problem(self, source_id: int, problem: Problem) -> None:
        self._problems.append(ProblemRow(source_id, problem.offset, problem.line, problem.kind, problem.detail))
        self.problems_by_source[source_id] += 1

    def forget(self, source_id: int) -> list[str]:
        """All that was added of a source; returns the sessions that it told of."""
        forgotten = [row.session_id for row in self._logs if row.source_id == source_id]
        self._logs = [row for row in self._logs if row.source_id != source_id]
        self._times = [row for row in self._times if row.source_id != source_id]
        self._problems = [row for row in self._problems if row.source_id != source_id]
        self.problems_by_source.pop(source_id, None)
        return forgotten

    def session_ids(self) -> list[str]:
        return list(dict.fromkeys(row.session_id for row in self._logs))

    def columns(self) -> Columns:
        tables: dict[str, Sequence[Struct]] = {
            LOG_TABLE: self._logs,
            TIME_TABLE: self._times,
            PROBLEM_TABLE: self._problems,
        }
        return {table: [record_batch(rows)] for table, rows in tables.items() if rows}


def _by_session(records: Sequence[SourceRecord]) -> Sequence[Sequence[SourceRecord]]:
    first = records[0].session_id
    if all(record.session_id == first for record in records):  # nearly every log is one session's
        return (records,)
    sessions: dict[str, list[SourceRecord]] = defaultdict(list)
    for record in records:
        sessions[record.session_id].append(record)
    return tuple(sessions.values())


def forget_rows(con: duckdb.DuckDBPyConnection, starts: Sequence[Start]) -> None:
    """Of each source all rows from its start on."""
    for table in SOURCE_TABLES:
        place, first = ("byte_offset", "first_byte") if table == PROBLEM_TABLE else ("first_seq", "first_record")
        con.execute(
            f"DELETE FROM {table} t USING ({STARTS}) s WHERE t.source_id = s.source_id AND t.{place} >= s.{first}",
            starts_as_values(starts),
        )


def count_problems(con: duckdb.DuckDBPyConnection, source_ids: Sequence[int]) -> int:
    of_sources = con.execute(f"SELECT source_id, count(*) FROM {PROBLEM_TABLE} GROUP BY source_id").fetchall()
    chosen = set(source_ids) if of_sources else ()  # mostly there is none at all
    return sum(count for source_id, count in of_sources if source_id in chosen)


def starts_as_values(starts: Sequence[Start]) -> list[list[int]]:
    """For the parameters of STARTS."""
    return [list(column) for column in zip(*starts, strict=True)] or [[], [], []]
