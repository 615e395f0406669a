"""One session from several copies of its log: the longest counts, the others fill its gaps, and nothing is told twice.

Copies come from a backup beside the original, one session under two roots, a packed twin, a record written again on resume.
They agree up to where one of them was cut or lost a line. What only a shorter copy holds goes in behind the record that it
follows there: in the middle it mends what the longest copy lost. At the end, where the longest goes another way (both were
written on after they parted), it stands before that way, so that the way of the longest copy is the one that ends the session,
and the place is told: one session has two histories.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Sequence
from typing import Generic, TypeVar

from msgspec import Struct

from ingest.records import Place, SourceRecord

_Key = Hashable
_R = TypeVar("_R", bound=SourceRecord)


class Unit(Struct, Generic[_R], frozen=True):
    """The records of one line that have one uuid: a response's text, the answers to a batch. All or none stay."""

    key: _Key
    records: tuple[_R, ...]


class Merged(Struct, Generic[_R], frozen=True):
    records: tuple[_R, ...]
    divergent: tuple[Place, ...] = ()
    """Where each copy that parts from the longest begins to go its own way."""
    differing: tuple[Place, ...] = ()
    """Records that say something else than the one of the same uuid that counts."""


_OF_THE_READING = frozenset(("place", "round_key", "stable_digest"))
"""What a reader makes of a record by those before it; the same record may have others in another file."""


def merge(copies: Sequence[Sequence[_R]]) -> Merged[_R]:
    """copies: a session's records source by source, each in the order of its file. Equals are ranked as they are given."""
    if len(copies) == 1 and _has_each_uuid_once(copies[0]):
        return Merged(tuple(copies[0]))
    differing: list[Place] = []
    units = sorted((list(_units(copy, differing)) for copy in copies), key=len, reverse=True)
    pieces: list[_Piece[_R]] = []
    for copy in units:
        sharing = [piece for piece in pieces if piece.shares(copy)]
        if not sharing:
            pieces.append(_Piece(copy, differing))
            continue
        sharing[0].add(copy)
        for bridged in sharing[1:]:  # this copy shows that two pieces are one
            sharing[0].add(list(bridged.in_order()))
            sharing[0].divergent.extend(bridged.divergent)
            pieces.remove(bridged)
    # Files without a record in common are parts of the log, in order of time.
    pieces.sort(key=lambda piece: piece.begins)
    return Merged(
        tuple(record for piece in pieces for unit in piece.in_order() for record in unit.records),
        tuple(place for piece in pieces for place in piece.divergent),
        tuple(dict.fromkeys(differing)),
    )


def _has_each_uuid_once(records: Sequence[_R]) -> bool:
    """So nearly every log: nothing in it is told twice."""
    uuids = [record.uuid for record in records if record.uuid is not None]
    return len(set(uuids)) == len(uuids)


def _say_the_same(some: Sequence[_R], others: Sequence[_R]) -> bool:
    return len(some) == len(others) and all(
        type(one) is type(other)
        and all(getattr(one, name) == getattr(other, name) for name in one.__struct_fields__ if name not in _OF_THE_READING)
        for one, other in zip(some, others, strict=True)
    )


def _units(records: Sequence[_R], differing: list[Place]) -> Iterator[Unit[_R]]:
    """A record that its file holds twice comes once; records without a uuid may be equal and stay as many as they are."""
    seen: dict[_Key, list[_R]] = {}
    equals: Counter[_R] = Counter()
    held: list[_R] = []
    for record in records:
        if held and record.uuid is not None and (record.uuid, record.place.offset) == (held[0].uuid, held[0].place.offset):
            held.append(record)
            continue
        yield from _new(held, seen, equals, differing)
        held = [record]
    yield from _new(held, seen, equals, differing)


def _new(records: list[_R], seen: dict[_Key, list[_R]], equals: Counter[_R], differing: list[Place]) -> Iterator[Unit[_R]]:
    if not records:
        return
    first = records[0]
    if first.uuid is None:
        equals[first] += 1
        yield Unit((first, equals[first]), (first,))
    elif first.uuid not in seen:
        seen[first.uuid] = records
        yield Unit(first.uuid, tuple(records))
    elif not _say_the_same(seen[first.uuid], records):
        differing.append(first.place)


class _Piece(Generic[_R]):
    """Copies that have records in common, directly or by way of another copy."""

    def __init__(self, longest: list[Unit[_R]], differing: list[Place]) -> None:
        self._units = longest
        self._of_longest = {unit.key: at for at, unit in enumerate(longest)}
        self._known = {unit.key: unit for unit in longest}
        self._differing = differing
        self._behind: dict[_Key | None, list[Unit[_R]]] = defaultdict(list)
        """What goes in behind each record; None: before all."""
        self.divergent: list[Place] = []

    @property
    def begins(self) -> float:
        times = (record.ts for unit in self._units for record in unit.records if record.ts is not None)
        return next(times, float("inf"))

    def shares(self, copy: Sequence[Unit[_R]]) -> bool:
        return any(unit.key in self._known for unit in copy)

    def add(self, copy: Sequence[Unit[_R]]) -> None:
        keys = {unit.key for unit in copy}
        own: list[Unit[_R]] = []
        last_common: _Key | None = None
        for unit in copy:
            known = self._known.get(unit.key)
            if known is None:
                own.append(unit)
                continue
            if not _say_the_same(known.records, unit.records):
                self._differing.append(unit.records[0].place)
            self._place(own, last_common, keys)
            own, last_common = [], unit.key
        self._place(own, last_common, keys)
        self._known = {unit.key: unit for unit in copy} | self._known
        self._tell_divergence(copy)

    def _place(self, own: list[Unit[_R]], last_common: _Key | None, keys: set[_Key]) -> None:
        """Behind the record before them in their copy; behind their parent, where that copy lost it."""
        if own:
            parent = own[0].records[0].parent_uuid
            lost_parent = parent in self._known and parent not in keys
            self._behind[parent if lost_parent else last_common].extend(own)

    def _tell_divergence(self, copy: Sequence[Unit[_R]]) -> None:
        """A tail of its own is no other way behind the longest copy's last record (that one was cut there), and none where the
        longest goes on from this tail (it lost those lines)."""
        parted = max((at for at, unit in enumerate(copy) if unit.key in self._of_longest), default=None)
        if parted is None or parted + 1 == len(copy):
            return
        tail = copy[parted + 1 :]
        follows = self._of_longest[copy[parted].key] + 1
        if follows < len(self._units) and self._units[follows].records[0].parent_uuid not in {unit.key for unit in tail}:
            self.divergent.append(tail[0].records[0].place)

    def in_order(self) -> Iterator[Unit[_R]]:
        pending = list(reversed(self._behind.pop(None, []) + self._units))
        while pending:
            unit = pending.pop()
            yield unit
            pending.extend(reversed(self._behind.pop(unit.key, ())))
