"""`loopscope ingest --follow` as a process, for tests that write while it reads along."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType

import duckdb

PATIENCE = 60.0
"""Seconds. Far more than it takes; a busy machine is slow and not wrong."""


class Follower:
    """Context manager; leaving it ends the process if the test did not."""

    def __init__(self, db: Path, *roots: Path, options: Sequence[str] = ()) -> None:
        self.db = db
        self._command = [sys.executable, "-m", "cli", "ingest", "--follow", *options, "--db", str(db), *map(str, roots)]
        self.said: list[str] = []

    def __enter__(self) -> Follower:
        self.process = subprocess.Popen(self._command, stderr=subprocess.PIPE, text=True)
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self._listener.join()
        assert self.process.stderr is not None
        self.process.stderr.close()

    def _listen(self) -> None:
        assert self.process.stderr is not None
        self.said.extend(iter(self.process.stderr.readline, ""))

    def wait_for(self, words: str) -> None:
        self.until(lambda: any(words in line for line in self.said), words)

    def until(self, holds: Callable[[], bool], what: str) -> float:
        """Seconds that it took."""
        started = time.monotonic()
        while not holds():
            assert self.process.poll() is None, f"it ended with {self.process.poll()}: {''.join(self.said)}"
            assert time.monotonic() - started < PATIENCE, f"not within {PATIENCE:g} s: {what}; it said {''.join(self.said)}"
            time.sleep(0.05)
        return time.monotonic() - started

    def until_rows(self, sql: str, rows: Sequence[tuple[object, ...]]) -> float:
        found: list[object] = []

        def holds() -> bool:
            found[:] = rows_of(self.db, sql)
            return found == list(rows)

        try:
            return self.until(holds, f"{sql} is {rows}")
        except AssertionError as e:
            raise AssertionError(f"{e}; the rows were {found}") from None

    def end(self, number: signal.Signals) -> int:
        self.process.send_signal(number)
        return self.process.wait(PATIENCE)


def rows_of(db: Path, sql: str) -> list[tuple[object, ...]]:
    """As any reader has them: the file is opened for one question."""
    with duckdb.connect(db, read_only=True) as con:
        return con.execute(sql).fetchall()
