"""From folders to a published store: find files, read what is new, keep its facts, analyse the sessions it touched.

Two layers. Facts of a group of whole sources go in with one transaction, which marks their sessions dirty; findings follow per
batch of dirty sessions. A kill at any moment leaves dirty sessions or an unpublished change behind, and the next run, though it
may find no new file, completes both.
"""

from __future__ import annotations

import gc
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

import msgspec

from ingest.plan import Plan, Planned, make_plan
from ingest.progress import SILENT, Progress
from ingest.reading import GroupRead
from ingest.records import SessionFacts
from ingest.sources import Candidate, discover
from ingest.store.dirty import dirty_sessions
from ingest.store.findings import GuardRow, count_findings, renew_findings, replace_findings
from ingest.store.info import read_info, write_info
from ingest.store.sessions import load_sessions
from ingest.store.sources import forget_source_rows, known_sources, mark_gone
from ingest.store.writable import WritableStore
from ingest.storing import store_group
from ingest.summary import Skipped, Summary
from ingest.workers import Workers, worker_count

_GROUP_BYTES = 48 << 20
"""Read at once and kept in one transaction. Smaller groups cost more inserts, larger ones more memory (SPEED.md 4)."""
_GROUP_FILES = 2000
_BATCH_RECORDS = 20_000
"""Records of the sessions analysed in one transaction."""


class Analysis(Protocol):
    """What the caller brings: `ingest` knows nothing of guards and verdicts."""

    @property
    def version(self) -> int:
        """Goes up whenever the same facts would give other findings."""

    @property
    def guards(self) -> Sequence[GuardRow]: ...

    def fingerprint(self, tool: str, args: object, /) -> tuple[bytes, bytes]: ...

    def analyse(self, facts: SessionFacts) -> msgspec.Struct:
        """A Struct whose lists of rows are named as the tables `found_*`."""


def ingest(
    roots: Sequence[Path],
    db: Path,
    analysis: Analysis,
    report: Progress = SILENT,
    *,
    workers: int | None = None,
    label: str | None = None,
) -> Summary:
    """label: kept in the store under that key, for every page to show.

    Raises StoreBusy, StoreDamaged, StoreTooNew, StoreUnwritable, WorkersDied; nothing that a log says makes it raise."""
    with _without_cycle_search():
        return _ingest(roots, db, analysis, report, workers, label)


def _ingest(
    roots: Sequence[Path], db: Path, analysis: Analysis, report: Progress, workers: int | None, label: str | None
) -> Summary:
    started = time.monotonic()
    summary = Summary()
    roots = [Path(os.path.abspath(root.expanduser())) for root in roots]
    found = list(discover(roots))
    size = sum(file.size for file in found if isinstance(file, Candidate))
    with Workers(worker_count(size, workers), analysis.fingerprint) as pool, WritableStore(db) as store:
        renew_findings(store, analysis.version, analysis.guards)
        plan = make_plan(found, roots, known_sources(store.con))
        summary.unchanged, summary.gone = plan.unchanged, len(plan.gone)
        summary.skipped, summary.unreadable = plan.skipped, plan.unreadable
        if plan.gone or plan.forgotten:
            with store.change() as con:
                mark_gone(con, plan.gone)
                forget_source_rows(con, plan.forgotten)
        if label is not None and read_info(store.con, "label") != label:
            with store.change() as con:
                write_info(con, "label", label)
        _read(store, plan, pool, summary, report)
        _analyse(store, analysis, summary, report)
        summary.findings = count_findings(store.con)
        summary.published = store.publish() or summary.published
    summary.seconds = time.monotonic() - started
    return summary


@contextmanager
def _without_cycle_search() -> Iterator[None]:
    """Records by the ten thousand and no cycles among them: looking for some costs a fifth of the run."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _read(store: WritableStore, plan: Plan, pool: Workers, summary: Summary, report: Progress) -> None:
    if not plan.files:
        return
    report.stage("read", sum(file.row.bytes for file in plan.files), "bytes")
    groups = list(_groups(plan.files))
    for group, read in zip(groups, pool.read([[file.to_read for file in group] for group in groups]), strict=True):
        store_group(store, group, read)
        _count(group, read, summary)
        report.advance(sum(file.row.bytes for file in group))


def _groups(files: Sequence[Planned]) -> Iterator[list[Planned]]:
    group: list[Planned] = []
    size = 0
    for file in files:
        if group and (size + file.row.bytes > _GROUP_BYTES or len(group) >= _GROUP_FILES):
            yield group
            group, size = [], 0
        group.append(file)
        size += file.row.bytes
    if group:
        yield group


def _count(group: Sequence[Planned], read: GroupRead, summary: Summary) -> None:
    for file, outcome in zip(group, read.outcomes, strict=True):
        summary.problems += outcome.problems
        if file.to_read.reader is None:
            continue
        summary.read += 1
        summary.bytes_read += outcome.read_bytes
        summary.records += outcome.records
        summary.calls += outcome.calls
        if outcome.unreadable is not None:
            summary.unreadable.append(Skipped(file.row.source_path, outcome.unreadable))


def _analyse(store: WritableStore, analysis: Analysis, summary: Summary, report: Progress) -> None:
    dirty = dirty_sessions(store)
    if not dirty:
        return
    report.stage("analyse", len(dirty), "sessions")
    for batch in _batches(dirty):
        found = []
        failed: set[str] = set()
        for facts in load_sessions(store.con, batch):
            try:
                found.append(analysis.analyse(facts))
            except Exception as e:
                # A fault in the analysis of one session is told and costs that session only; it stays dirty for the next run.
                failed.add(facts.session_id)
                summary.failed.append(Skipped(facts.session_id, f"{type(e).__name__}: {e}"))
        with store.change() as con:
            replace_findings(con, [session_id for session_id in batch if session_id not in failed], found)
        summary.sessions_analysed += len(found)
        summary.published |= store.publish_if_due()
        report.advance(len(batch))


def _batches(dirty: Sequence[tuple[str, int]]) -> Iterator[list[str]]:
    batch: list[str] = []
    held = 0
    for session_id, records in dirty:
        batch.append(session_id)
        held += records
        if held >= _BATCH_RECORDS:
            yield batch
            batch, held = [], 0
    if batch:
        yield batch
