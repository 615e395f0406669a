"""`python -m bench.guard_replay [MEGABYTES]`: how long a guard takes over history that was read, against reading it.

Two numbers, since they answer two questions. `guard run` with a what-if of `fingerprint` skips sessions in which no id came
twice, as nothing but `execute` can come of them. Call by call, as a guard is replayed of which nothing is known: facts from the
store, timeline and decisions of every session.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import closing, redirect_stderr, redirect_stdout
from pathlib import Path
from tempfile import TemporaryDirectory

from analysis.guards import BUILT_IN, Contender
from analysis.reading import open_store
from analysis.trial import try_guard
from bench.corpus import write_corpus
from cli.engine import facts_of, run_ingest
from cli.main import run


class _ReadingTime:
    """When the run went over from reading to analysing."""

    def __init__(self) -> None:
        self.began: dict[str, float] = {}

    def stage(self, name: str, total: int, unit: str) -> None:
        self.began.setdefault(name, time.monotonic())

    def advance(self, amount: int) -> None:
        pass

    def say(self, sentence: str) -> None:
        pass

    @property
    def seconds(self) -> float:
        return self.began["analyse"] - self.began["read"]


def _guard_run(store: Path) -> float:
    began = time.monotonic()
    with open(os.devnull, "w") as nowhere, redirect_stdout(nowhere), redirect_stderr(nowhere):
        code = run(["guard", "run", "mine", "--guard", "mine=fingerprint", "--format=csv", "--db", str(store)])
    if code:
        raise RuntimeError(f"guard run ended with {code}")
    return time.monotonic() - began


def _call_by_call(store: Path) -> float:
    fingerprint = next(one for one in BUILT_IN if one.name == "fingerprint")
    unknown = Contender(fingerprint.guard, "as if it were not ours")
    began = time.monotonic()
    with closing(open_store(store)) as con:
        ids = [str(row[0]) for row in con.execute("SELECT session_id FROM sessions ORDER BY session_id").fetchall()]
        for chunk in _chunks(ids, 200):
            for facts in facts_of(con, chunk):
                try_guard(facts, unknown)
    return time.monotonic() - began


def _chunks(ids: list[str], size: int) -> Iterator[list[str]]:
    for start in range(0, len(ids), size):
        yield ids[start : start + size]


def measure(megabytes: int) -> list[str]:
    with TemporaryDirectory(prefix="loopscope-bench-") as folder:
        logs, store = Path(folder) / "logs", Path(folder) / "store.duckdb"
        sessions, _ = write_corpus(logs, megabytes)
        reading = _ReadingTime()
        calls = run_ingest([logs], store, reading).calls
        rows = [("reading them (ingest, first stage)", reading.seconds)]
        rows += [("`guard run` of a what-if of fingerprint", _guard_run(store))]
        rows += [("replayed call by call", _call_by_call(store))]
    return [
        f"{megabytes} MB, {sessions} sessions, {calls} calls",
        "",
        "| run | seconds | seconds a million calls | ratio to reading |",
        "|---|---|---|---|",
        *(
            f"| {name} | {seconds:.2f} | {seconds / calls * 1e6:.1f} | {seconds / reading.seconds:.2f} |"
            for name, seconds in rows
        ),
    ]


if __name__ == "__main__":
    print(*measure(int(sys.argv[1]) if len(sys.argv) > 1 else 100), sep="\n")
