"""Reading along: whatever is written below the roots is in the published store about two seconds later, until a stop.

The store stays open and locked all the while, so a second writer is told who follows. Nothing that happens to the disk ends it:
what cannot be written is told once and tried again, and what was published stays as it was.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from ingest import telemetry
from ingest.analysing import Analysis
from ingest.errors import LoopscopeError, StoreTooNew
from ingest.pipeline import ingest, make_task
from ingest.progress import Progress
from ingest.refresh import Task, refresh
from ingest.sources import discover
from ingest.store.writable import WritableStore
from ingest.summary import Summary
from ingest.watching import Watch

_FIRST_PAUSE = 2.0
_LONGEST_PAUSE = 30.0
"""Seconds until something that failed is tried again, twice as long each time."""


def follow(
    roots: Sequence[Path],
    db: Path,
    analysis: Analysis,
    report: Progress,
    told: Callable[[Summary], None],
    *,
    stop: threading.Event,
    workers: int | None = None,
) -> None:
    """told: called after the first run, and after each that changed something. Raises what the first run raises, as `ingest`
    does; after that only StoreTooNew."""
    task = make_task(roots, analysis, report, stopped=stop.is_set, workers=workers)
    told(ingest(task.roots, db, analysis, report, workers=workers, stopped=stop.is_set))
    watch = Watch(task.roots, db, stop, report)
    pause, last = _FIRST_PAUSE, ""
    while not stop.is_set():
        try:
            with WritableStore(db, say=report.say) as store:
                for summary in _passes(store, task, watch, stop):
                    pause, last = _FIRST_PAUSE, ""
                    told(summary)
        except StoreTooNew:
            raise
        except LoopscopeError as e:
            if str(e) != last:
                report.say(f"{e} Following goes on and tries again.")
            last = str(e)
            stop.wait(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)


def _passes(store: WritableStore, task: Task, watch: Watch, stop: threading.Event) -> Iterator[Summary]:
    """What is read and what is published changes together: between two copies there is nothing to see."""
    changed = True
    while not stop.is_set():
        changed = changed or watch.changed()
        if not changed or stop.wait(store.seconds_until_publishing()):
            continue
        changed = False
        with telemetry.run():
            summary = refresh(store, task, list(discover(task.roots)))
            with telemetry.stage("publish"):
                summary.published |= store.publish()
        if summary.published:
            telemetry.count(summary)
            yield summary
    store.publish()
