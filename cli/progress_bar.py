"""A bar on stderr for work that takes its time: only on a terminal, and only once the work has taken a second."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING

import click

from analysis.inert_text import inert

if TYPE_CHECKING:
    from rich.progress import Progress as Bars
    from rich.progress import TaskID

AFTER_SECONDS = 1.0


class ProgressBar:
    """What the engine reports to (`ingest.progress.Progress`)."""

    def __init__(self) -> None:
        self._started = time.monotonic()
        self._wanted = sys.stderr.isatty()
        self._bars: Bars | None = None
        self._task: TaskID | None = None
        self._stage = ("", 0, "")
        self._done = 0

    def __enter__(self) -> ProgressBar:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._bars is not None:
            self._bars.stop()

    def stage(self, name: str, total: int, unit: str) -> None:
        self._stage = (name, total, unit)
        self._done = 0
        self._task = None

    def advance(self, amount: int) -> None:
        self._done += amount
        if not self._wanted or time.monotonic() - self._started < AFTER_SECONDS:
            return
        bars = self._bars or self._start()
        name, total, unit = self._stage
        if self._task is None:
            self._task = bars.add_task(name, total=total, unit=unit)
        bars.update(self._task, completed=self._done)

    def say(self, sentence: str) -> None:
        """In a log file too, where no bar is drawn."""
        if self._bars is not None:
            self._bars.stop()
            self._bars, self._task = None, None
        click.echo(inert(sentence), err=True)

    def _start(self) -> Bars:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

        self._bars = Progress(
            TextColumn("{task.description:8}"),
            BarColumn(),
            TaskProgressColumn(),
            TextColumn("{task.fields[unit]}"),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        self._bars.start()
        return self._bars
