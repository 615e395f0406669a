"""From folders to a published store: find files, read what is new, keep its facts, analyse the sessions it touched."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from ingest import telemetry
from ingest.analysing import Analysis
from ingest.errors import NoStore, WorkingFileDamaged
from ingest.progress import SILENT, Progress
from ingest.refresh import Task, refresh
from ingest.sources import Candidate, SkippedPath, discover
from ingest.store.explain import working_file
from ingest.store.sources import roots_of
from ingest.store.writable import WritableStore
from ingest.summary import Summary


def ingest(
    roots: Sequence[Path],
    db: Path,
    analysis: Analysis,
    report: Progress = SILENT,
    *,
    workers: int | None = None,
    label: str | None = None,
    stopped: Callable[[], bool] = lambda: False,
    anew: bool = False,
) -> Summary:
    """stopped: asked between transactions; once it says yes, what is there is published and the rest left to the next run.

    Raises StoreBusy, StoreDamaged, StoreTooNew, StoreUnwritable, WorkersDied; nothing that a log says makes it raise."""
    started = time.monotonic()
    task = make_task(roots, analysis, report, label=label, stopped=stopped, anew=anew, workers=workers)
    with telemetry.run():
        with telemetry.stage("discover"):
            found = list(discover(task.roots))
        try:
            summary = _run(task, db, found)
        except WorkingFileDamaged:
            # It was set aside, so that this time the store starts from the published copy or from nothing.
            summary = _run(task, db, found)
        summary.seconds = time.monotonic() - started
        telemetry.count(summary)
    return summary


def _run(task: Task, db: Path, found: Sequence[Candidate | SkippedPath]) -> Summary:
    with WritableStore(db, say=task.report.say) as store:
        summary = refresh(store, task, found)
        with telemetry.stage("publish"):
            summary.published |= store.publish()
        return summary


def rebuild(
    roots: Sequence[Path],
    db: Path,
    analysis: Analysis,
    report: Progress = SILENT,
    *,
    otherwise: Sequence[Path] = (),
    workers: int | None = None,
    stopped: Callable[[], bool] = lambda: False,
) -> Summary:
    """Facts anew from the logs that are still there, those of vanished logs kept, and all findings anew from the facts.

    roots: beside those that the store was made from. otherwise: where the store cannot say from which, having been set aside
    because it could not be read. Raises as `ingest`, and NoStore where there is no store and no root."""
    known: list[Path] = []
    if _is_there(db) or _is_there(working_file(db)):
        with WritableStore(db, say=report.say, opening="repair") as store:
            known = [Path(root) for root in roots_of(store.con)] or absolute(otherwise)
    every = list(dict.fromkeys([*known, *absolute(roots)]))
    if not every:
        raise NoStore(f"There is no store at {db}. Name the folders with the logs to have one made: `loopscope ingest PATH`.")
    try:
        return ingest(every, db, analysis, report, workers=workers, stopped=stopped, anew=True)
    except WorkingFileDamaged:
        # The published copy has the damage too, where opening it did not show it.
        with WritableStore(db, say=report.say, opening="empty"):
            pass
        return ingest(every, db, analysis, report, workers=workers, stopped=stopped)


def _is_there(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:  # a name that is too long, a folder that is closed to us: whoever opens it says so
        return False


def make_task(
    roots: Sequence[Path],
    analysis: Analysis,
    report: Progress,
    *,
    label: str | None = None,
    stopped: Callable[[], bool] = lambda: False,
    anew: bool = False,
    workers: int | None = None,
) -> Task:
    return Task(
        roots=absolute(roots), analysis=analysis, report=report, label=label, stopped=stopped, anew=anew, workers=workers
    )


def absolute(roots: Sequence[Path]) -> list[Path]:
    return [Path(os.path.abspath(root.expanduser())) for root in roots]
