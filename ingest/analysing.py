"""Sessions to findings as columns, here or in a worker process.

What `ingest` knows of analysis is this protocol: it knows nothing of guards and verdicts. A fault in the analysis of one
session is told and costs that session only; it stays dirty for the next run.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Protocol

import msgspec
from msgspec import Struct

from ingest.records import SessionFacts
from ingest.store.columns import Columns, record_batch
from ingest.store.sessions import PackedSessions
from ingest.summary import Skipped

GuardRow = tuple[str, str, str]
"""Its name, what it is about, where it comes from."""


class Analysis(Protocol):
    @property
    def version(self) -> int:
        """Goes up whenever the same facts would give other findings."""

    @property
    def guards(self) -> Sequence[GuardRow]: ...

    def fingerprint(self, tool: str, args: object, /) -> tuple[bytes, bytes]: ...

    def learn(self, tool_seconds: Mapping[str, int]) -> None:
        """How long the tools of this corpus take, before any session is analysed by `analyse`."""

    def analyse(self, facts: SessionFacts) -> msgspec.Struct:
        """A Struct whose lists of rows are named as the tables `found_*`; `session` holds one row or None."""

    def analyse_early(self, facts: SessionFacts) -> msgspec.Struct | None:
        """What `analyse` will give whatever is learnt; None where that cannot be said yet."""


class Analysed(Struct):
    session_ids: list[str]
    columns: Columns
    """Of the tables `found_*`, with the rows of all these sessions."""
    failed: list[Skipped]
    with_others: bool = False
    """Whether the columns hold rows of further sessions, which do not count."""


def analyse_sessions(analysis: Analysis, sessions: PackedSessions) -> Analysed:
    found: list[tuple[str, Struct]] = []
    failed: list[Skipped] = []
    for facts in sessions.facts():
        try:
            found.append((facts.session_id, analysis.analyse(facts)))
        except Exception as e:
            failed.append(_failure(facts.session_id, e))
    return _analysed(found, failed)


def analyse_early(analysis: Analysis, sessions: Iterable[SessionFacts]) -> Analysed:
    """Those of the sessions whose findings can be told by now. Failures are not told: the session has its turn yet to come."""
    found: list[tuple[str, Struct]] = []
    for facts in sessions:
        with suppress(Exception):
            one = analysis.analyse_early(facts)
            if one is not None:
                found.append((facts.session_id, one))
    analysed = _analysed(found, [])
    analysed.failed.clear()
    return analysed


def _analysed(found: Sequence[tuple[str, Struct]], failed: list[Skipped]) -> Analysed:
    try:
        return Analysed([session_id for session_id, _ in found], finding_columns(one for _, one in found), failed)
    except ValueError:
        pass  # some finding fits no column: which one's?
    kept = []
    for session_id, one in found:
        try:
            finding_columns((one,))
        except ValueError as e:
            failed.append(_failure(session_id, e))
        else:
            kept.append((session_id, one))
    return Analysed([session_id for session_id, _ in kept], finding_columns(one for _, one in kept), failed)


def _failure(session_id: str, error: Exception) -> Skipped:
    return Skipped(session_id, f"{type(error).__name__}: {error}")


def finding_columns(findings: Iterable[Struct]) -> Columns:
    rows: dict[str, list[Struct]] = {}
    for found in findings:
        for name in found.__struct_fields__:
            value = getattr(found, name)
            if value:
                rows.setdefault(f"found_{name}", []).extend(value if isinstance(value, list) else (value,))
    return {table: [record_batch(of_table)] for table, of_table in rows.items()}
