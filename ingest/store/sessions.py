"""Sessions back out of the fact tables, a batch at a time: one query a table, never one a row.

A session's records may come from several files, which `copies` makes into one log. Telemetry has no uuid: delivered twice it is
equal in all but place, whatever the source, while two prompts in the same millisecond differ and stay two.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from ingest.records import Call, CardEvent, Compaction, Event, HistoryEntry, Place, Response, SessionFacts, SourceRecord
from ingest.store.columns import fields
from ingest.store.copies import Merged, merge
from ingest.store.facts import CALL_TABLE, ENTRY_TABLE, RECORD_TABLES

if TYPE_CHECKING:
    import duckdb

SUB_AGENT = "/agent-"
"""Stands between a parent's session id and the rest of its sub-agent's."""

_CHOSEN = "session_id IN (SELECT unnest(?::VARCHAR[]))"
_OF_AN_AGENT = "(name = 'subagent_execution' OR regexp_matches(prompt_id, '#[^#]+#'))"

_Key = tuple[int, int]
"""source_id and seq: one record as a source tells it."""


class _Source(Struct):
    path: str
    client: str
    rank: int


class _Row(Struct):
    source: _Source
    seq: int
    record: SourceRecord


def load_sessions(con: duckdb.DuckDBPyConnection, session_ids: Sequence[str]) -> Iterator[SessionFacts]:
    """In the order asked for; a session of which no source says anything any more comes empty."""
    sources = _sources(con)
    rows = _rows(con, session_ids, sources)
    parents = {parent for parent, is_sub_agent, _ in map(_split, session_ids) if is_sub_agent}
    parents_events: dict[str, list[_Row]] = defaultdict(list)
    if parents:
        for row in _records(con, Event, sorted(parents), sources, {}, {}, _OF_AN_AGENT):
            parents_events[row.record.session_id].append(row)
    parents_uuids = _uuids(con, sorted(parents)) if parents else {}
    for session_id in session_ids:
        parent, is_sub_agent, agent = _split(session_id)
        of_session = sorted(rows.pop(session_id, []), key=_position)
        chain = [row for row in of_session if _in_chain(row.record)]
        events = [row for row in of_session if isinstance(row.record, Event) and not _in_chain(row.record)]
        cards = [row for row in of_session if isinstance(row.record, CardEvent)]
        if is_sub_agent:
            events += [row for row in parents_events[parent] if _concerns(row.record, agent)]
        # Of a sub-agent: what launched it, copied into its own log, stays the parent's.
        echoes = parents_uuids.get(parent, ()) if is_sub_agent else ()
        log = _merged([row for row in chain if row.record.uuid not in echoes])
        yield SessionFacts(
            session_id=session_id,
            kind="sub-agent" if is_sub_agent else "main",
            parent_session_id=parent if is_sub_agent else None,
            client=next((row.source.client for row in (*chain, *events, *cards)), "unknown"),
            records=tuple(record for record in log.records if not isinstance(record, CardEvent)),
            events=tuple(_in_time(events)),
            cards=tuple(record for record in _merged(cards).records if isinstance(record, CardEvent)),
            divergent_copies=log.divergent,
        )


def _split(session_id: str) -> tuple[str, bool, str]:
    """The parent's id, whether this is a sub-agent's at all, and the agent's id."""
    parent, separator, agent = session_id.partition(SUB_AGENT)
    return parent, bool(separator), agent


def _position(row: _Row) -> tuple[int, int, int]:
    """By place, not by when it was read: a record that another one was written into is read after it."""
    return row.source.rank, row.record.place.offset, row.seq


def _in_chain(record: SourceRecord) -> bool:
    return record.channel == "log" if isinstance(record, Event) else not isinstance(record, CardEvent)


def _concerns(event: SourceRecord, agent: str) -> bool:
    assert isinstance(event, Event)
    return event.name == "subagent_execution" or f"#{agent}#" in (event.prompt_id or "")


def _uuids(con: duckdb.DuckDBPyConnection, session_ids: Sequence[str]) -> dict[str, set[str]]:
    """Of all records of the sessions' logs."""
    found: dict[str, set[str]] = defaultdict(set)
    tables = " UNION ALL ".join(f"SELECT session_id, uuid FROM {table}" for table in RECORD_TABLES.values())
    rows = con.execute(f"SELECT session_id, uuid FROM ({tables}) WHERE {_CHOSEN} AND uuid IS NOT NULL", [list(session_ids)])
    for session_id, uuid in rows.fetchall():
        found[session_id].add(uuid)
    return found


def _merged(rows: Sequence[_Row]) -> Merged:
    by_source: dict[int, list[SourceRecord]] = defaultdict(list)
    for row in rows:
        by_source[row.source.rank].append(row.record)
    return merge(list(by_source.values()))


def _in_time(rows: Iterable[_Row]) -> list[Event]:
    """By time, those without one last; equal times keep the order of their sources."""
    events = dict.fromkeys(row.record for row in rows if isinstance(row.record, Event))
    return sorted(events, key=lambda event: (event.ts is None, event.ts or 0))


def _sources(con: duckdb.DuckDBPyConnection) -> dict[int, _Source]:
    rows = con.execute("SELECT source_id, source_path, client FROM fact_source ORDER BY bytes DESC, source_path")
    return {source_id: _Source(path, client, rank) for rank, (source_id, path, client) in enumerate(rows.fetchall())}


def _rows(con: duckdb.DuckDBPyConnection, session_ids: Sequence[str], sources: dict[int, _Source]) -> dict[str, list[_Row]]:
    calls = _parts(con, CALL_TABLE, Call, session_ids, "part")
    entries = _parts(con, ENTRY_TABLE, HistoryEntry, session_ids, "entry_no")
    rows: dict[str, list[_Row]] = defaultdict(list)
    for kind in RECORD_TABLES:
        for row in _records(con, kind, session_ids, sources, calls, entries):
            rows[row.record.session_id].append(row)
    return rows


def _records(
    con: duckdb.DuckDBPyConnection,
    kind: type[SourceRecord],
    session_ids: Sequence[str],
    sources: dict[int, _Source],
    calls: dict[_Key, tuple[Any, ...]],
    entries: dict[_Key, tuple[Any, ...]],
    condition: str = "true",
) -> Iterator[_Row]:
    names = list(fields(kind))
    selected = ", ".join("epoch_us(ts)" if name == "ts" else name for name in names)
    found = con.execute(
        f"SELECT source_id, seq, byte_offset, byte_length, line, {selected} FROM {RECORD_TABLES[kind]} "
        f"WHERE {_CHOSEN} AND {condition}",
        [list(session_ids)],
    )
    for source_id, seq, offset, length, line, *values in found.fetchall():
        source = sources[source_id]
        content = dict(zip(names, values, strict=True))
        if kind is Response:
            content["calls"] = calls.get((source_id, seq), ())
        elif kind is Compaction:
            content["entries"] = entries.get((source_id, seq), ())
        yield _Row(source, seq, kind(place=Place(source.path, offset, length, line), **content))


def _parts(
    con: duckdb.DuckDBPyConnection,
    table: str,
    kind: type[Call] | type[HistoryEntry],
    session_ids: Sequence[str],
    order: str,
) -> dict[_Key, tuple[Any, ...]]:
    """The Structs that live in a table of their own, by the record that holds them."""
    names = list(fields(kind))
    found = con.execute(
        f"SELECT source_id, seq, {', '.join(names)} FROM {table} WHERE {_CHOSEN} ORDER BY {order}", [list(session_ids)]
    )
    parts: dict[_Key, list[Any]] = defaultdict(list)
    for source_id, seq, *values in found.fetchall():
        parts[source_id, seq].append(kind(**dict(zip(names, values, strict=True))))
    return {key: tuple(values) for key, values in parts.items()}
