"""Reading a group of files into columns, here or in a worker process.

A worker is bounded by its chunk and not by the file: bytes come in blocks, unpacked where the file is packed, and records
leave as columns. Offsets and lines are those of the plain bytes. Of a file that has grown since it was read, only what is new
is read, where its mark still holds. What goes wrong with one file is said in its outcome and ends nothing.
"""

from __future__ import annotations

import traceback
from collections.abc import Iterator, Sequence
from functools import partial
from typing import BinaryIO

from msgspec import Struct

from ingest.growth import make_mark, mark_that_holds, read_at
from ingest.packed import CannotUnpack, is_packed, plain_blocks
from ingest.readers.base import FingerprintFunction, Reader
from ingest.records import Problem, Response
from ingest.store.facts import Columns, FactColumns

_CHUNK = 4 << 20
TORN = "torn-tail"
UNREADABLE = "unreadable"
_NOT_UNPACKED = "not-unpacked"


class ToRead(Struct, frozen=True):
    source_id: int
    path: str
    """As the operating system has it; what is stored is the readable form, `Outcome.source_id` ties them."""
    name: str
    """As it is stored."""
    reader: type[Reader] | None
    """None: there is nothing to read."""
    refusal: str | None = None
    """Why the file could not even be opened."""
    mark: bytes | None = None
    """Of the last reading; the file has grown since."""


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
    mark: bytes | None = None


class GroupRead(Struct):
    outcomes: list[Outcome]
    columns: Columns


def read_group(files: Sequence[ToRead], fingerprint: FingerprintFunction) -> GroupRead:
    facts = FactColumns()
    outcomes = [_read_file(file, fingerprint, facts) for file in files]
    facts.flush()
    for outcome in outcomes:
        outcome.problems = facts.problems_by_source.get(outcome.source_id, 0)
    return GroupRead(outcomes, facts.batches)


def _read_file(file: ToRead, fingerprint: FingerprintFunction, facts: FactColumns) -> Outcome:
    outcome = Outcome(file.source_id)
    if file.refusal is not None:
        _refuse(file, file.refusal, outcome, facts)
    if file.reader is None:
        return outcome
    reader = file.reader(file.name, fingerprint)
    try:
        with open(file.path, "rb", buffering=0) as stream:
            _go_on(file, reader, stream, outcome)
            head = stream.read(_CHUNK)
            packed = is_packed(head) and not outcome.first_byte
            try:
                for data in plain_blocks(head, stream, _CHUNK) if packed else _blocks(head, stream):
                    outcome.read_bytes += len(data)
                    for row in reader.feed(data):
                        _take(row, outcome, facts)
            except CannotUnpack as e:
                facts.add_problem(file.source_id, Problem(_NOT_UNPACKED, str(e), outcome.read_bytes, 0))
            mark = None if packed else make_mark(stream, reader, outcome.records)
            for row in reader.finish():
                _take(row, outcome, facts)
            outcome.mark = mark
            if packed:
                outcome.read_bytes = stream.tell()
    except OSError as e:
        _refuse(file, e.strerror or str(e), outcome, facts)
    except Exception:
        # A reader must not raise. One that does has a fault, and still the other files are read and this is told.
        detail = traceback.format_exc().strip().replace("\n", " | ")[-500:]
        facts.add_problem(file.source_id, Problem("reader-failed", detail, outcome.read_bytes, 0))
    return outcome


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


def _refuse(file: ToRead, reason: str, outcome: Outcome, facts: FactColumns) -> None:
    outcome.unreadable = reason
    facts.add_problem(file.source_id, Problem(UNREADABLE, reason, outcome.read_bytes, 0))


def _take(row: object, outcome: Outcome, facts: FactColumns) -> None:
    if not isinstance(row, Problem):
        facts.add(outcome.source_id, outcome.records, row)  # type: ignore[arg-type]
        outcome.records += 1
        if isinstance(row, Response):
            outcome.calls += len(row.calls)
    elif row.kind == TORN:
        # Not damage: the file may be growing. It is said by the source's status.
        outcome.torn = True
        outcome.read_bytes = row.offset
    else:
        facts.add_problem(outcome.source_id, row)
