"""Sessions that can be analysed where their log is read, since the records are there already.

So can nearly all: a session is told by one log, or by files that lie beside each other and are read together. Which of them the
store knows more of, from other sources, is seen when the facts are stored; such a session is then analysed again from there.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from ingest.records import SessionFacts, SourceRecord
from ingest.store.assembly import Told, parent_of, session_facts

MOST_RECORDS = 50_000
"""Kept as objects at one time."""


class EarlySessions:
    def __init__(self) -> None:
        self._told: dict[str, dict[int, Told]] = defaultdict(dict)
        self._records = 0
        self._left_out: set[str] = set()

    def add(self, source_id: int, source_path: str, source_bytes: int, client: str, records: Sequence[SourceRecord]) -> None:
        """Records of one session out of one source."""
        session_id = records[0].session_id
        # A sub-agent's findings rest on its parent's log.
        if parent_of(session_id) is not None or self._records + len(records) > MOST_RECORDS:
            self.leave_out(session_id)
        if session_id not in self._left_out:
            self._records += len(records)
            told = self._told[session_id].get(source_id)
            if told is None:
                told = self._told[session_id][source_id] = Told(source_path, source_bytes, client, [])
            told.records = [*told.records, *records]

    def leave_out(self, session_id: str) -> None:
        """Not all that it has to tell is here."""
        self._left_out.add(session_id)
        self._told.pop(session_id, None)

    def facts(self) -> Iterator[SessionFacts]:
        """Each is forgotten as soon as it was given."""
        while self._told:
            session_id, told = self._told.popitem()
            yield session_facts(session_id, list(told.values()))
