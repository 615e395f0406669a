"""One pass over an open store: what is new below the roots is read, and the sessions that it touched are analysed.

Two layers. Facts of a group of sources go in with one transaction, which marks their sessions dirty; findings follow per batch
of dirty sessions. A kill at any moment leaves dirty sessions or an unpublished change behind, and the next pass, though it may
find no new file, completes both. So does a stop, which waits for the transaction under way only.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import msgspec

from ingest import telemetry
from ingest.plan import Plan, Planned, make_plan
from ingest.progress import Progress
from ingest.reading import GroupRead
from ingest.records import SessionFacts
from ingest.sources import Candidate, SkippedPath
from ingest.store.dirty import dirty_sessions
from ingest.store.durations import learn_durations
from ingest.store.findings import GuardRow, count_findings, renew_findings, replace_findings
from ingest.store.info import read_info, write_info
from ingest.store.sessions import load_sessions
from ingest.store.sources import forget_source_rows, known_sources, mark_gone, marks_of
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

    def learn(self, tool_seconds: Mapping[str, int]) -> None:
        """How long the tools of this corpus take, before any session is analysed."""

    def analyse(self, facts: SessionFacts) -> msgspec.Struct:
        """A Struct whose lists of rows are named as the tables `found_*`."""


@dataclass(frozen=True, kw_only=True)
class Task:
    """What stays the same from pass to pass."""

    roots: Sequence[Path]
    analysis: Analysis
    report: Progress
    label: str | None
    """Kept in the store under that key, for every page to show."""
    stopped: Callable[[], bool]
    anew: bool
    """All files are read and all sessions analysed as if for the first time."""
    workers: int | None
    """None: as many as the work is worth."""


def refresh(store: WritableStore, task: Task, found: Sequence[Candidate | SkippedPath]) -> Summary:
    """found: what there is below the roots. Raises what the store raises, and WorkersDied."""
    summary = Summary()
    with _without_cycle_search():
        renewed = renew_findings(store, task.analysis.version, task.analysis.guards, anew=task.anew)
        if renewed is not None and not task.anew:
            task.report.say(f"All sessions are analysed again: {renewed}.")
        _read_new(store, task, found, summary)
        with telemetry.stage("analyse"):
            # Half of all findings is no state to show: until all are there again, readers keep what they have.
            _analyse(store, task, summary, publishing=renewed is None)
        summary.findings = count_findings(store.con)
    summary.stopped = task.stopped()
    return summary


def _read_new(store: WritableStore, task: Task, found: Sequence[Candidate | SkippedPath], summary: Summary) -> None:
    with telemetry.stage("plan"):
        plan = make_plan(found, task.roots, known_sources(store.con), anew=task.anew)
    summary.unchanged, summary.gone = plan.unchanged, len(plan.gone)
    summary.skipped, summary.unreadable = plan.skipped, plan.unreadable
    if plan.gone or plan.forgotten:
        with store.change() as con:
            mark_gone(con, plan.gone)
            forget_source_rows(con, plan.forgotten)
    if task.label is not None and read_info(store.con, "label") != task.label:
        with store.change() as con:
            write_info(con, "label", task.label)
    if plan.outdated:
        task.report.say(f"{plan.outdated} files are read again: this program reads more out of them than the one before.")
    if plan.files:
        _recall_marks(store, plan)
        with telemetry.stage("read"), _workers(store, task, plan) as pool:
            _read(store, plan, pool, task, summary)


@contextmanager
def _workers(store: WritableStore, task: Task, plan: Plan) -> Iterator[Workers]:
    pool = Workers(worker_count(sum(file.row.bytes for file in plan.files), task.workers), task.analysis.fingerprint)
    if pool.are_processes:
        with store.closed():  # they may inherit no database: its threads are not in them
            pool.start()
    with pool:
        yield pool


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


def _read(store: WritableStore, plan: Plan, pool: Workers, task: Task, summary: Summary) -> None:
    task.report.stage("read", sum(file.row.bytes for file in plan.files), "bytes")
    groups = list(_groups(plan.files))
    for group, read in zip(groups, pool.read([[file.to_read for file in group] for group in groups]), strict=True):
        store_group(store, group, read)
        _count(group, read, summary)
        task.report.advance(sum(file.row.bytes for file in group))
        if task.stopped():
            return


def _recall_marks(store: WritableStore, plan: Plan) -> None:
    grown = {file.row.source_id: file for file in plan.files if file.has_grown}
    if grown:
        for source_id, mark in marks_of(store.con, list(grown)).items():
            grown[source_id].to_read = msgspec.structs.replace(grown[source_id].to_read, mark=mark)


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
        summary.bytes_read += outcome.read_bytes - outcome.first_byte
        summary.records += outcome.records - outcome.first_record
        summary.calls += outcome.calls
        if outcome.unreadable is not None:
            summary.unreadable.append(Skipped(file.row.source_path, outcome.unreadable))


def _analyse(store: WritableStore, task: Task, summary: Summary, *, publishing: bool) -> None:
    if not dirty_sessions(store):
        return
    task.analysis.learn(learn_durations(store))
    dirty = dirty_sessions(store)
    task.report.stage("analyse", len(dirty), "sessions")
    for batch in _batches(dirty):
        if task.stopped():
            return
        found = []
        failed: set[str] = set()
        for facts in load_sessions(store.con, batch):
            try:
                found.append(task.analysis.analyse(facts))
            except Exception as e:
                # A fault in the analysis of one session is told and costs that session only; it stays dirty for the next run.
                failed.add(facts.session_id)
                summary.failed.append(Skipped(facts.session_id, f"{type(e).__name__}: {e}"))
        with store.change() as con:
            replace_findings(con, [session_id for session_id in batch if session_id not in failed], found)
        summary.sessions_analysed += len(found)
        if publishing:
            summary.published |= store.publish_if_due()
        task.report.advance(len(batch))


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
