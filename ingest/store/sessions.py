"""Sessions out of the store, a batch at a time: their packed records with one query, to be unpacked here or in a worker.

A batch is plain bytes and text, so that whoever unpacks it needs no database.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from ingest.records import SessionFacts
from ingest.store.assembly import NO_PARENT, Told, parent_of, session_facts, what_parent_tells
from ingest.store.record_pack import unpack

if TYPE_CHECKING:
    import duckdb


_CHOSEN = "session_id IN (SELECT unnest(?::VARCHAR[]))"


class PackedTold(Struct):
    """What one source says of one session, in the pieces in which it was read."""

    source_path: str
    source_bytes: int
    client: str
    pieces: list[bytes]

    def unpacked(self) -> Told:
        records = [record for piece in self.pieces for record in unpack(piece)]
        return Told(self.source_path, self.source_bytes, self.client, records)


class PackedSessions(Struct):
    session_ids: Sequence[str]
    told: Mapping[str, list[PackedTold]]
    """By session; those of the sub-agents' parents too."""

    def facts(self) -> Iterator[SessionFacts]:
        """In the order asked for."""
        parents = {}
        for session_id in self.session_ids:
            parent = parent_of(session_id)
            if parent is not None and parent not in parents:
                parents[parent] = what_parent_tells(self._told(parent))
            yield session_facts(session_id, self._told(session_id), parents[parent] if parent is not None else NO_PARENT)

    def _told(self, session_id: str) -> list[Told]:
        return [source.unpacked() for source in self.told.get(session_id, ())]


def fetch_sessions(con: duckdb.DuckDBPyConnection, session_ids: Sequence[str]) -> PackedSessions:
    wanted = [*session_ids, *{parent for parent in map(parent_of, session_ids) if parent is not None}]
    first, last = con.execute(f"SELECT min(source_id), max(source_id) FROM fact_log WHERE {_CHOSEN}", [wanted]).fetchall()[0]
    rows = con.execute(
        "SELECT l.session_id, l.source_id, s.source_path, s.bytes, s.client, l.packed "
        # Without the bounds all packed records of the store would be looked at, for each batch of sessions.
        f"FROM (SELECT * FROM fact_log WHERE {_CHOSEN} AND source_id BETWEEN ? AND ?) l "
        "JOIN fact_source s USING (source_id) ORDER BY l.source_id, l.first_seq",
        [wanted, first, last],
    )
    told: dict[str, dict[int, PackedTold]] = defaultdict(dict)
    for session_id, source_id, path, size, client, packed in rows.fetchall():
        source = told[session_id].setdefault(source_id, PackedTold(path, size, client, []))
        source.pieces.append(packed)
    return PackedSessions(session_ids, {session_id: list(sources.values()) for session_id, sources in told.items()})


def load_sessions(con: duckdb.DuckDBPyConnection, session_ids: Sequence[str]) -> Iterator[SessionFacts]:
    """In the order asked for; a session of which no source says anything any more comes empty."""
    return fetch_sessions(con, session_ids).facts()
