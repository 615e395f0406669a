"""Reading a group of files into facts, here or in a worker process, and into findings where that can be done at once.

A worker is bounded by its chunk and not by the file: bytes come in blocks, unpacked where the file is packed, and records
leave packed. Offsets and lines are those of the plain bytes. Of a file that has grown since it was read, only what is new
is read, where its mark still holds. What goes wrong with one file is said in its outcome and ends nothing.
"""

from __future__ import annotations

import traceback
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import BinaryIO

from msgspec import Struct

from ingest.analysing import Analysed, Analysis, analyse_early
from ingest.early import EarlySessions
from ingest.growth import make_mark, mark_that_holds, read_at
from ingest.packed import CannotUnpack, is_packed, plain_blocks
from ingest.readers.base import Reader, Row
from ingest.records import Problem, Response, SourceRecord
from ingest.store.columns import Columns
from ingest.store.facts import FactRows

_CHUNK = 4 << 20
_PIECE_RECORDS = 20_000
"""So many records of one source are objects at one time; the rest are packed already."""
TORN = "torn-tail"
UNREADABLE = "unreadable"
_NOT_UNPACKED = "not-unpacked"


class ToRead(Struct, frozen=True):
    source_id: int
    path: str
    """As the operating system has it; what is stored is the readable form, `Outcome.source_id` ties them."""
    name: str
    """As it is stored."""
    size: int
    """Bytes."""
    reader: type[Reader] | None
    """None: there is nothing to read."""
    refusal: str | None = None
    """Why the file could not even be opened."""
    mark: bytes | None = None
    """Of the last reading; the file has grown since."""
    is_known: bool = False
    """The store has what an earlier version of it said."""


class Outcome(Struct):
    source_id: int
    first_byte: int = 0
    first_record: int = 0
    """Where this reading began; what was told before these stays."""
    read_bytes: int = 0
    """Up to the last whole record; of a packed file all its bytes."""
    records: int = 0
    """Of the whole file."""
    calls: int = 0
    problems: int = 0
    torn: bool = False
    unreadable: str | None = None
    untouched: bool = False
    """It could not be read, and what it said before stands."""
    mark: bytes | None = None


class GroupRead(Struct):
    outcomes: list[Outcome]
    session_ids: list[str]
    """Of all records read."""
    columns: Columns
    """Of the tables `fact_*`."""
    early: Analysed
    """Findings of sessions about which no source outside the group says anything, as far as the group knows."""


def read_group(files: Sequence[ToRead], analysis: Analysis) -> GroupRead:
    facts, early = FactRows(), EarlySessions()
    outcomes = [_FileReading(file, facts, early).read(analysis) for file in files]
    for outcome in outcomes:
        outcome.problems = facts.problems_by_source[outcome.source_id]
    return GroupRead(outcomes, facts.session_ids(), facts.columns(), analyse_early(analysis, early.facts()))


class _FileReading:
    def __init__(self, file: ToRead, facts: FactRows, early: EarlySessions) -> None:
        self._file = file
        self._facts = facts
        self._early = early
        self._outcome = Outcome(file.source_id)
        self._piece: list[SourceRecord] = []

    def read(self, analysis: Analysis) -> Outcome:
        file, outcome = self._file, self._outcome
        if file.refusal is not None:
            self._refuse(file.refusal)
        if file.reader is None:
            return outcome
        reader = file.reader(file.name, analysis.fingerprint)
        try:
            with open(file.path, "rb", buffering=0) as stream:
                _go_on(file, reader, stream, outcome)
                head = stream.read(min(_CHUNK, file.size + 1))  # a buffer as large as wanted is made, whatever comes
                packed = is_packed(head) and not outcome.first_byte
                try:
                    for data in plain_blocks(head, stream, _CHUNK) if packed else _blocks(head, stream):
                        outcome.read_bytes += len(data)
                        self._take(reader.feed(data))
                except CannotUnpack as e:
                    self._facts.add_problem(file.source_id, Problem(_NOT_UNPACKED, str(e), outcome.read_bytes, 0))
                self._end_piece()  # once the file has grown, reading goes on from here
                mark = None if packed else make_mark(stream, reader, outcome.records)
                self._take(reader.finish())
                outcome.mark = mark
                if packed:
                    outcome.read_bytes = stream.tell()
        except OSError as e:
            self._refuse(e.strerror or str(e))
        except Exception:
            # A reader must not raise. One that does has a fault, and still the other files are read and this is told.
            detail = traceback.format_exc().strip().replace("\n", " | ")[-500:]
            self._facts.add_problem(file.source_id, Problem("reader-failed", detail, outcome.read_bytes, 0))
        self._end_piece()
        return outcome

    def _take(self, rows: Iterable[Row]) -> None:
        outcome = self._outcome
        for row in rows:
            if not isinstance(row, Problem):
                self._piece.append(row)
                if isinstance(row, Response):
                    outcome.calls += len(row.calls)
                if len(self._piece) >= _PIECE_RECORDS:
                    self._end_piece()
            elif row.kind == TORN:
                # Not damage: the file may be growing. It is said by the source's status.
                outcome.torn = True
                outcome.read_bytes = row.offset
            else:
                self._facts.add_problem(outcome.source_id, row)

    def _end_piece(self) -> None:
        file, outcome = self._file, self._outcome
        if not self._piece or file.reader is None:
            return
        for of_session in self._facts.add_piece(file.source_id, outcome.records, self._piece):
            if outcome.first_record:
                self._early.leave_out(of_session[0].session_id)
            else:
                self._early.add(file.source_id, file.name, file.size, file.reader.client, of_session)
        outcome.records += len(self._piece)
        self._piece = []

    def _refuse(self, reason: str) -> None:
        self._outcome.unreadable = reason
        if self._file.is_known:
            # What it said is still true, and more than the part that could be read before it vanished.
            self._outcome.untouched = True
            self._outcome.records, self._outcome.calls = self._outcome.first_record, 0
            self._piece = []
            for session_id in self._facts.forget(self._file.source_id):
                self._early.leave_out(session_id)
        self._facts.add_problem(self._file.source_id, Problem(UNREADABLE, reason, self._outcome.read_bytes, 0))


def _go_on(file: ToRead, reader: Reader, stream: BinaryIO, outcome: Outcome) -> None:
    """To where the last reading ended, if the file still is what was read then."""
    if file.mark is not None and (mark := mark_that_holds(stream, file.mark)) is not None:
        reader.go_on(mark.position, partial(read_at, stream))
        outcome.first_byte = outcome.read_bytes = mark.position.offset
        outcome.first_record = outcome.records = mark.records
        stream.seek(mark.position.offset)


def _blocks(head: bytes, stream: BinaryIO) -> Iterator[bytes]:
    while head:
        yield head
        head = stream.read(_CHUNK)
