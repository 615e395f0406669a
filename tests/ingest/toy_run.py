"""The pipeline with an analysis so small that a test knows every finding: one finding a session, counting its records.

As a program it is a run that a test may kill:  python -m tests.ingest.toy_run LOGS DB [DIE_AT]
DIE_AT: `analysis` ends the process by SIGKILL at the third session, `publishing` right before the copy.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import duckdb

from analysis.findings import FindingRow, SessionFindings
from analysis.fingerprint import fingerprint
from ingest.pipeline import ingest
from ingest.records import SessionFacts
from ingest.store import file_copy
from ingest.summary import Summary
from tests.support.stored_records import stored_records


class ToyAnalysis:
    def __init__(self, version: int = 1, before_each: Callable[[SessionFacts], None] | None = None) -> None:
        self.version = version
        self.guards = (("none", "does nothing", "built-in"),)
        self._before_each = before_each

    def fingerprint(self, tool: str, args: object, /) -> tuple[bytes, bytes]:
        return fingerprint(tool, args)

    def learn(self, tool_seconds: Mapping[str, int]) -> None:
        self.tool_seconds = dict(tool_seconds)

    def analyse_early(self, facts: SessionFacts) -> SessionFindings | None:
        """Everything can be told at once, unless something is to happen between facts and findings."""
        return None if self._before_each is not None else self.analyse(facts)

    def analyse(self, facts: SessionFacts) -> SessionFindings:
        if self._before_each is not None:
            self._before_each(facts)
        row = FindingRow(
            finding_id=f"v{self.version}:{facts.session_id}",
            kind="toy",
            session_id=facts.session_id,
            severity=1,
            reason=f"{len(facts.records)} records, {len(facts.events)} events",
            confidence="certain",
            evidence=[f"{record.place.source}:{record.place.line}" for record in facts.records[:1]],
            what_to_try="nothing",
        )
        return SessionFindings(
            session=None,
            turns=[],
            responses=[],
            calls=[],
            dead_calls=[],
            decisions=[],
            divergences=[],
            trips=[],
            loop_events=[],
            findings=[row],
        )


def run(logs: Path, db: Path, analysis: ToyAnalysis | None = None, **options: Any) -> Summary:
    return ingest([logs], db, analysis or ToyAnalysis(), **options)


CONTENT = {
    "sources": "SELECT source_path, format, root, bytes, read_bytes, records, problems, status FROM sources",
    "problems": "SELECT * FROM problems",
    "findings": "SELECT * FROM findings",
}


def content(db: Path) -> dict[str, list[Any]]:
    """All rows of a published store, but for numbers and times that differ between runs by right."""
    with duckdb.connect(db, read_only=True) as con:
        found: dict[str, list[Any]] = {name: con.execute(query).fetchall() for name, query in CONTENT.items()}
        for path, record in stored_records(con):
            found.setdefault(type(record).__name__, []).append((path, repr(record)))
        return {name: sorted(rows, key=repr) for name, rows in found.items()}


def _kill_at_third() -> Callable[[SessionFacts], None]:
    seen: list[str] = []

    def kill(facts: SessionFacts) -> None:
        seen.append(facts.session_id)
        if len(seen) == 3:
            os.kill(os.getpid(), signal.SIGKILL)

    return kill


def _kill_instead_of_copying(source: Path, target: Path) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    logs, db, *die_at = sys.argv[1:]
    if die_at == ["publishing"]:
        file_copy._copy = _kill_instead_of_copying
    run(Path(logs), Path(db), ToyAnalysis(before_each=_kill_at_third() if die_at == ["analysis"] else None))
