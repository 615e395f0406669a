"""What the readers say of each recording is what analysis gets back out of the store, field by field."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

from analysis.fingerprint import fingerprint
from ingest.records import AnyRecord, CardEvent, Event, Problem, SourceRecord
from ingest.sources import HEAD_BYTES, Candidate, discover, recognise
from ingest.store.sessions import load_sessions
from tests.conformance.conftest import Recordings


def _read(folder: Path) -> dict[str, list[SourceRecord]]:
    """By session, straight from the readers. In the recordings a session's chain is told by one file."""
    by_session: dict[str, list[SourceRecord]] = defaultdict(list)
    for file in discover([folder]):
        assert isinstance(file, Candidate)
        data = file.path.read_bytes()
        reader = recognise(file.path, data[:HEAD_BYTES])
        if reader is None:  # the client's list of prompts, an empty outfile
            continue
        instance = reader(str(file.path), fingerprint)
        for row in (*instance.feed(data), *instance.finish()):
            assert not isinstance(row, Problem)
            by_session[row.session_id].append(row)
    return by_session


def _is_beside_the_chain(record: AnyRecord) -> bool:
    return isinstance(record, Event) and record.channel != "log"


def test_facts_survive_the_store(recordings: Recordings) -> None:
    read = _read(recordings.folder)
    assert len(read) >= 60
    for stored in load_sessions(recordings.store, list(read)):
        told = read[stored.session_id]
        records: list[AnyRecord] = [record for record in told if not isinstance(record, CardEvent)]
        assert list(stored.cards) == [record for record in told if isinstance(record, CardEvent)]
        chain = [record for record in records if not _is_beside_the_chain(record)]
        assert list(stored.records) == chain
        assert [record.place for record in stored.records] == [record.place for record in chain]
        # A sub-agent also gets what its parent's log and telemetry tell of it.
        own = [event for event in stored.events if event.session_id == stored.session_id and event.channel != "log"]
        assert sorted(map(repr, own)) == sorted(repr(record) for record in records if _is_beside_the_chain(record))
