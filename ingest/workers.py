"""Reading groups of files and analysing sessions side by side, where there is enough of it to pay for processes.

Workers are forked, since starting them anew costs more than a hundred megabytes of reading; so whoever starts them has no
database open, whose threads they would inherit halfway. They do inherit the writer's lock: of a killed writer it is free when
they have noticed, half a second later.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import TypeVar

from ingest.analysing import Analysed, Analysis, analyse_sessions
from ingest.errors import LoopscopeError
from ingest.reading import GroupRead, ToRead, read_group
from ingest.store.columns import arrow
from ingest.store.sessions import PackedSessions

WORTH_FORKING = 40 << 20
"""Bytes. Below, starting processes costs more than it saves (SPEED.md: 0.35 s of imports in each)."""
BYTES_A_RECORD = 1 << 10
"""What it takes to analyse a record, in bytes read in the same time."""
_IN_FLIGHT = 2
"""Tasks a worker may be ahead of the writer, so that finished columns do not pile up."""

_Task = TypeVar("_Task")
_Done = TypeVar("_Done")

_analysis: Analysis
"""Of a worker process: it is inherited and need not be sent."""


class WorkersDied(LoopscopeError):
    """A worker process ended without an answer, most likely for want of memory."""


class Workers:
    """Context manager, to be started or entered while no database is open. With a count of 1 no process is started and the
    work is done here."""

    def __init__(self, count: int, analysis: Analysis) -> None:
        self._count = count
        self._analysis = analysis
        self._pool: ProcessPoolExecutor | None = None

    @property
    def are_processes(self) -> bool:
        return self._count > 1

    def __enter__(self) -> Workers:
        self.start()
        return self

    def start(self) -> None:
        if self.are_processes and self._pool is None:
            arrow()  # inherited, it is not imported in each
            context = multiprocessing.get_context("fork")
            self._pool = ProcessPoolExecutor(self._count, context, _start_worker, (self._analysis, os.getpid()))
            self._pool.submit(os.getpid).result()  # the first task forks all of them

    def __exit__(self, *_: object) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    def read(self, groups: Iterable[Sequence[ToRead]]) -> Iterator[GroupRead]:
        """In the order given, whatever is ready first: the same folder makes the same store. Raises WorkersDied."""
        if self._pool is None:
            return (read_group(group, self._analysis) for group in groups)
        return self._side_by_side(self._pool, _read, groups)

    def analyse(self, batches: Iterable[PackedSessions], tool_seconds: Mapping[str, int]) -> Iterator[Analysed]:
        """In the order given. Raises WorkersDied."""
        if self._pool is None:
            self._analysis.learn(tool_seconds)
            return (analyse_sessions(self._analysis, batch) for batch in batches)
        return self._side_by_side(self._pool, _analyse, ((batch, tool_seconds) for batch in batches))

    def _side_by_side(
        self, pool: ProcessPoolExecutor, work: Callable[[_Task], _Done], tasks: Iterable[_Task]
    ) -> Iterator[_Done]:
        waiting: deque[Future[_Done]] = deque()
        try:
            for task in tasks:
                waiting.append(pool.submit(work, task))
                if len(waiting) > self._count * _IN_FLIGHT:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        except BrokenProcessPool as e:
            raise WorkersDied(
                "A worker process died, most likely for want of memory. What was read before is stored; "
                "free some memory and run the same command again."
            ) from e


def worker_count(bytes_to_read: int, asked: int | None) -> int:
    """1 for working in this process."""
    if "fork" not in multiprocessing.get_all_start_methods():
        return 1
    if asked is not None:
        return max(asked, 1)
    return min(os.cpu_count() or 1, 8) if bytes_to_read > WORTH_FORKING else 1


def _start_worker(analysis: Analysis, parent: int) -> None:
    global _analysis
    _analysis = analysis
    # Ctrl-C reaches the whole process group; the parent is the one to decide what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: int) -> None:
    """A worker waits for work on a pipe that it holds open itself: a killed parent would leave it waiting for ever."""
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(1)


def _read(group: Sequence[ToRead]) -> GroupRead:
    return read_group(group, _analysis)


def _analyse(task: tuple[PackedSessions, Mapping[str, int]]) -> Analysed:
    batch, tool_seconds = task
    _analysis.learn(tool_seconds)
    return analyse_sessions(_analysis, batch)
