"""Sessions straight from log files, grouped in memory as the store groups them: for tests that need facts and no store."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

from ingest.sources import HEAD_BYTES, Candidate, discover, recognise

from analysis.fingerprint import fingerprint
from ingest.records import AnyRecord, Event, Problem, SessionFacts


def facts_of(folder: Path) -> list[SessionFacts]:
    """The sessions below `folder`, in order of their ids; a damaged piece of a file is an error here."""
    by_session: dict[str, list[AnyRecord]] = defaultdict(list)
    client = "unknown"
    files = [found for found in discover([folder]) if isinstance(found, Candidate)]
    for file in sorted(files, key=lambda file: (-file.size, str(file.path))):
        data = file.path.read_bytes()
        reader_type = recognise(file.path, data[:HEAD_BYTES])
        if reader_type is None:
            continue
        client = reader_type.client
        reader = reader_type(str(file.path), fingerprint)
        for row in (*reader.feed(data), *reader.finish()):
            if isinstance(row, Problem):
                raise AssertionError(f"{file.path}:{row.line}: {row.kind}: {row.detail}")
            by_session[row.session_id].append(row)
    return [_session(session_id, client, records) for session_id, records in sorted(by_session.items())]


def _session(session_id: str, client: str, records: list[AnyRecord]) -> SessionFacts:
    parent, is_sub_agent, _ = session_id.partition("/agent-")
    in_chain: dict[str | None, AnyRecord] = {}
    beside: list[Event] = []
    for record in records:
        if isinstance(record, Event) and record.uuid is None:
            beside.append(record)
        else:
            in_chain.setdefault(record.uuid, record)
    return SessionFacts(
        session_id=session_id,
        kind="sub-agent" if is_sub_agent else "main",
        parent_session_id=parent if is_sub_agent else None,
        client=client,
        records=tuple(in_chain.values()),
        events=tuple(sorted(beside, key=lambda event: event.ts or 0)),
    )
