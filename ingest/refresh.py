"""One pass over an open store: what is new below the roots is read, and the sessions that it touched are analysed.

Two layers. Facts of some groups of sources go in with one transaction, and with them the findings of the sessions that nobody
else tells of; the other sessions are marked dirty, and their findings follow per batch once all is read. A kill at any moment
leaves dirty sessions or an unpublished change behind, and the next pass, though it may find no new file, completes both. So
does a stop, which waits for the transaction under way only.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import msgspec

from ingest import telemetry
from ingest.analysing import Analysis
from ingest.groups import groups_of, transactions
from ingest.plan import Plan, Planned, make_plan
from ingest.progress import Progress
from ingest.reading import GroupRead
from ingest.sources import Candidate, SkippedPath
from ingest.store.dirty import dirty_sessions
from ingest.store.durations import are_durations_behind, learn_durations
from ingest.store.facts import count_problems
from ingest.store.findings import count_findings, renew_findings, replace_findings
from ingest.store.info import read_info, write_info
from ingest.store.sessions import fetch_sessions
from ingest.store.sources import forget_source_rows, known_sources, mark_gone, marks_of
from ingest.store.writable import WritableStore
from ingest.storing import store_group
from ingest.summary import Skipped, Summary
from ingest.workers import BYTES_A_RECORD, Workers, worker_count

_BATCH_RECORDS = 20_000
"""Records of the sessions analysed in one transaction."""


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
    analysed: set[str] = set()
    with _without_cycle_search():
        renewed = renew_findings(store, task.analysis.version, task.analysis.guards, anew=task.anew)
        if renewed is not None and not task.anew:
            task.report.say(f"All sessions are analysed again: {renewed}.")
        plan = _plan(store, task, found, summary)
        with _workers(store, task, plan) as pool:
            if plan.files:
                _recall_marks(store, plan)
                with telemetry.stage("read"):
                    _read(store, plan, pool, task, summary, analysed)
            if are_durations_behind(store) or dirty_sessions(store):
                with telemetry.stage("analyse"):
                    # Half of all findings is no state to show: until all are there again, readers keep what they have.
                    _analyse(store, task, pool, summary, analysed, publishing=renewed is None)
        summary.findings = count_findings(store.con)
    summary.sessions_analysed = len(analysed)
    summary.stopped = task.stopped()
    return summary


def _plan(store: WritableStore, task: Task, found: Sequence[Candidate | SkippedPath], summary: Summary) -> Plan:
    with telemetry.stage("plan"):
        plan = make_plan(found, task.roots, known_sources(store.con), anew=task.anew)
    summary.unchanged, summary.gone = len(plan.unchanged), len(plan.gone)
    summary.problems_before = count_problems(store.con, plan.unchanged)
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
    return plan


@contextmanager
def _workers(store: WritableStore, task: Task, plan: Plan) -> Iterator[Workers]:
    to_read = sum(file.row.bytes for file in plan.files)
    to_analyse = BYTES_A_RECORD * sum(records for _, records in dirty_sessions(store))
    count = worker_count(to_read + to_analyse, task.workers) if to_read + to_analyse else 1
    pool = Workers(count, task.analysis)
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


def _read(store: WritableStore, plan: Plan, pool: Workers, task: Task, summary: Summary, analysed: set[str]) -> None:
    task.report.stage("read", sum(file.row.bytes for file in plan.files), "bytes")
    groups = list(groups_of(plan.files))
    parts = pool.read([file.to_read for file in group] for group in groups)
    for group, read in transactions(zip(groups, parts, strict=True)):
        analysed.update(store_group(store, group, read))
        store.give_back_memory()
        _count(group, read, summary)
        task.report.advance(sum(file.row.bytes for file in group))
        if task.stopped():
            return


def _recall_marks(store: WritableStore, plan: Plan) -> None:
    grown = {file.row.source_id: file for file in plan.files if file.has_grown}
    if grown:
        for source_id, mark in marks_of(store.con, list(grown)).items():
            grown[source_id].to_read = msgspec.structs.replace(grown[source_id].to_read, mark=mark)


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


def _analyse(
    store: WritableStore, task: Task, pool: Workers, summary: Summary, analysed: set[str], *, publishing: bool
) -> None:
    if task.stopped():
        return
    tool_seconds = learn_durations(store)  # which may show that sessions were judged by limits that hold no more
    dirty = dirty_sessions(store)
    if not dirty:
        return
    task.report.stage("analyse", len(dirty), "sessions")
    batches = list(_batches(dirty))
    packed = (fetch_sessions(store.con, batch) for batch in batches)
    for batch, done in zip(batches, pool.analyse(packed, tool_seconds), strict=True):
        with store.change() as con:
            replace_findings(con, done.session_ids, done.columns)
        store.give_back_memory()
        analysed.update(done.session_ids)
        summary.failed.extend(done.failed)
        if publishing:
            summary.published |= store.publish_if_due()
        task.report.advance(len(batch))
        if task.stopped():
            return


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
