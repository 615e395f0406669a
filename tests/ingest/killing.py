"""Ingests a folder that goes on changing, and kills the process again and again, at moments drawn at random.

    python -m tests.ingest.killing LOGS DB SEED KILLS     prints the seed and how often each kind of moment was hit

The runs are forked from here, so that a kill costs no start of Python. Everything is made small (groups, batches, the time
between two copies), so that many moments lie between two transactions, between the two layers and within a copy.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import sys
import time
from collections import Counter
from pathlib import Path

import ingest.groups
import ingest.growth
import ingest.refresh
import ingest.store.writable
from cli.engine import BuiltInAnalysis
from ingest.pipeline import ingest as run_ingest

RECORDINGS = Path(__file__).parents[2] / "data" / "recordings" / "0.24.4"


def make_everything_small() -> None:
    ingest.growth.WORTH_MARKING = 1
    ingest.groups.GROUP_FILES = 3
    ingest.groups.TRANSACTION_BYTES = 0
    ingest.refresh._BATCH_RECORDS = 100
    ingest.store.writable._LEAST_SECONDS_BETWEEN = 0.0
    ingest.store.writable._SHARE_FOR_COPYING = 1.0


class ChangingFolder:
    """Copies of the recorded files that come, grow, are rewritten and vanish, and in the end are whole."""

    def __init__(self, folder: Path, generator: random.Random) -> None:
        self._folder = folder
        self._random = generator
        folders = sorted(RECORDINGS.iterdir())[::3]
        self._sources = [path for folder in folders for path in sorted(folder.rglob("*")) if path.is_file()]

    def change(self) -> None:
        for source in self._random.sample(self._sources, len(self._sources) // 6):
            path, whole = self._path(source), source.read_bytes()
            there = path.stat().st_size if path.exists() else 0
            match self._random.randrange(8):
                case 0:
                    path.unlink(missing_ok=True)
                case 1:  # rewritten, its first line lost
                    path.write_bytes(whole[whole.find(b"\n") + 1 :])
                case 2:  # another file under its name
                    path.unlink(missing_ok=True)
                    path.write_bytes(whole[: len(whole) // 3])
                case _:
                    with path.open("ab") as growing:
                        growing.write(whole[there : there + self._random.randrange(1, len(whole) + 2)])

    def complete(self) -> None:
        for source in self._sources:
            path, whole = self._path(source), source.read_bytes()
            if not path.exists() or path.read_bytes() != whole:
                path.write_bytes(whole)

    def _path(self, source: Path) -> Path:
        path = self._folder / source.relative_to(RECORDINGS)
        path.parent.mkdir(parents=True, exist_ok=True)
        return path


def fork_run(logs: Path, db: Path) -> int:
    pid = os.fork()
    if not pid:
        try:
            run_ingest([logs], db, BuiltInAnalysis(), workers=1)
        except BaseException as e:
            print(f"{type(e).__name__}: {e}", file=sys.stderr, flush=True)
            os._exit(1)
        os._exit(0)
    return pid


def ended(pid: int) -> str:
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    if status not in (0, -signal.SIGKILL):
        raise SystemExit(f"a run ended with {status}")
    return "killed" if status else "finished"


def moment(db: Path) -> str:
    """What the run that was just killed was doing, as far as the files tell."""
    if db.with_name(db.name + ".new").exists():
        return "copying"
    log = db.with_name(db.name + ".work.wal")
    return "between or within transactions" if log.exists() and log.stat().st_size else "starting or checkpointing"


def main(logs: Path, db: Path, seed: int, kills: int) -> None:
    make_everything_small()
    generator = random.Random(seed)
    folder = ChangingFolder(logs, generator)
    folder.change()
    began = time.monotonic()
    ended(fork_run(logs, db))
    typical = time.monotonic() - began
    moments: Counter[str] = Counter()
    while sum(moments.values()) < kills:
        folder.change()
        began = time.monotonic()
        pid = fork_run(logs, db)
        time.sleep(generator.uniform(0, typical))
        os.kill(pid, signal.SIGKILL)
        if ended(pid) == "killed":
            moments[moment(db)] += 1
        else:
            # It was faster than the one before: aim earlier, or most shots miss.
            typical = max(0.05, typical * 0.8)
        if generator.random() < 0.2:
            shutil.rmtree(logs / generator.choice(sorted(os.listdir(logs))), ignore_errors=True)
    folder.complete()
    ended(fork_run(logs, db))
    print(f"seed {seed}: {dict(moments)}", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))
