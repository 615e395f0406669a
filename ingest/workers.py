"""Reading groups of files side by side, where there is enough of it to pay for processes.

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
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool

from ingest.errors import LoopscopeError
from ingest.readers.base import FingerprintFunction
from ingest.reading import GroupRead, ToRead, read_group

WORTH_FORKING = 40 << 20
"""Bytes. Below, starting processes costs more than it saves (SPEED.md: 0.35 s of imports in each)."""
_IN_FLIGHT = 2
"""Groups a worker may be ahead of the writer, so that finished columns do not pile up."""

_fingerprint: FingerprintFunction
"""Of a worker process: functions need not be sent where they are inherited."""


class WorkersDied(LoopscopeError):
    """A worker process ended without an answer, most likely for want of memory."""


class Workers:
    """Context manager, to be started or entered while no database is open. With a count of 1 no process is started and `read`
    does the work itself."""

    def __init__(self, count: int, fingerprint: FingerprintFunction) -> None:
        self._count = count
        self._fingerprint = fingerprint
        self._pool: ProcessPoolExecutor | None = None

    @property
    def are_processes(self) -> bool:
        return self._count > 1

    def __enter__(self) -> Workers:
        self.start()
        return self

    def start(self) -> None:
        if self.are_processes and self._pool is None:
            context = multiprocessing.get_context("fork")
            self._pool = ProcessPoolExecutor(self._count, context, _start_worker, (self._fingerprint, os.getpid()))
            self._pool.submit(os.getpid).result()  # the first task forks all of them

    def __exit__(self, *_: object) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    def read(self, groups: Sequence[Sequence[ToRead]]) -> Iterator[GroupRead]:
        """In the order given, whatever is ready first: the same folder makes the same store. Raises WorkersDied."""
        if self._pool is None:
            for group in groups:
                yield read_group(group, self._fingerprint)
            return
        waiting: deque[Future[GroupRead]] = deque()
        try:
            for group in groups:
                waiting.append(self._pool.submit(_work, group))
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
    """1 for reading in this process."""
    if "fork" not in multiprocessing.get_all_start_methods():
        return 1
    if asked is not None:
        return max(asked, 1)
    return min(os.cpu_count() or 1, 8) if bytes_to_read > WORTH_FORKING else 1


def _start_worker(fingerprint: FingerprintFunction, parent: int) -> None:
    global _fingerprint
    _fingerprint = fingerprint
    # Ctrl-C reaches the whole process group; the parent is the one to decide what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: int) -> None:
    """A worker waits for work on a pipe that it holds open itself: a killed parent would leave it waiting for ever."""
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(1)


def _work(group: Sequence[ToRead]) -> GroupRead:
    return read_group(group, _fingerprint)
