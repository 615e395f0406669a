"""What every reader is: bytes in, common records and problems out.

A reader takes the bytes of one source in any chunking and never raises on what they hold, so one bad file never ends a run and
one bad line never loses the next. It keeps no more than one chunk and the unfinished piece at its end.

Kinds of Problem, all readers. Something is lost: `damaged` (nothing could be read from it), `too-long`, `nul-block`,
`foreign-record` (sound JSON, not of this format), `trailing-garbage` (behind a record that was kept). Nothing is lost, or what
the detail names: `repaired` (several records on one line, or one on several), `concurrent-writers` (one record within another,
or the rest of one that is older than its neighbour), `bad-utf8`, `lost-header` (no session id: the file's name stands in),
`unreadable-time`, `clock-step` (far back in time from one record to the next), `unreadable-parent`, `circular-parents` (they
lead back to the record). And `torn-tail`: the source ends inside a record and may still grow.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from pathlib import PurePath
from typing import Any, ClassVar

from msgspec import Struct

from ingest.packed import plain_name
from ingest.records import Problem, SourceRecord

FingerprintFunction = Callable[[str, object], tuple[bytes, bytes]]
"""(tool, decoded arguments) -> (32-byte digest, canonical JSON of the arguments). The caller gives it."""

Row = SourceRecord | Problem


Earlier = Callable[[int, int], bytes]
"""(offset, length) -> those bytes of the part of the source that was read before; fewer where it is not there any more."""


class Position(Struct, frozen=True):
    """Where the reading of a source that has grown goes on: at the end of the last whole record."""

    offset: int
    line: int
    memory: dict[str, Any]
    """What of the earlier records matters to the later ones, as MessagePack has it."""


class Sample(Struct, frozen=True):
    """The beginning of a source, as far as it parses: what a reader tells its format by."""

    name: str
    head: bytes
    values: tuple[dict[str, Any], ...]
    """The JSON objects at the start, in order. The last may be cut short and then holds its first members only."""


class Reader(ABC):
    """`version` goes up whenever the same bytes would give other records, or what a position remembers has another form: stored
    sources are then read again."""

    format: ClassVar[str]
    client: ClassVar[str]
    version: ClassVar[int]

    def __init__(self, source: str, fingerprint: FingerprintFunction) -> None:
        self.source = source
        self.name = plain_name(PurePath(source).name)
        self.fingerprint = fingerprint

    @classmethod
    @abstractmethod
    def claims(cls, sample: Sample) -> bool:
        """Whether the content is this reader's. Two readers must not claim the same sample."""

    @abstractmethod
    def feed(self, data: bytes) -> Iterator[Row]:
        """The records completed by these bytes. Run the iterator to its end before feeding on."""

    @abstractmethod
    def finish(self) -> Iterator[Row]:
        """What the end of the source completes or shows to be torn."""

    def position(self) -> Position | None:
        """Asked between the last `feed` and `finish`. None: if this source grows, it has to be read from its start again."""
        return None

    def go_on(self, position: Position, earlier: Earlier) -> None:
        """Of a new reader, before its first `feed`: what it yields then is what the reader of that position would have."""
        raise NotImplementedError(f"{self.format} tells no position")
