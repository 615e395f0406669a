"""`python -m bench.run [MEGABYTES] [OUT.md]`: how fast ingest is, as a ratio to the floor measured in the same run.

Every measurement is a process of its own, so that imports, memory and caches of one do not help the next; the time is taken
inside it, after the imports. The files are read once before, so that the disk is in no number.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.corpus import write_corpus, write_small_log

ROUNDS = 3
UNCHANGED_FILES = 20_000
_MEASURE = "bench.measure"
_TARGETS = (
    "1.8 for a cold ingest of 500 MB and 1.6 of 5 GB, 5 % of it for a line, 0.2 s for 20,000 unchanged files, 350 MB, 4 %"
)

Measured = dict[str, float]


def _measured(what: str, *args: object) -> Measured:
    command = [sys.executable, "-m", _MEASURE, what, *map(str, args)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, cwd=Path(__file__).parent.parent)
    result: Measured = {key: value for key, value in json.loads(done.stdout).items() if key != "what"}
    return result


def _median(values: Sequence[float]) -> float:
    return sorted(values)[len(values) // 2]


def measure(megabytes: int) -> list[str]:
    with TemporaryDirectory(prefix="loopscope-bench-") as folder:
        logs, store = Path(folder) / "logs", Path(folder) / "store.duckdb"
        sessions, size = write_corpus(logs, megabytes)
        _measured("floor", logs)
        rounds = [_round(logs, store) for _ in range(ROUNDS)]
        share = rounds[0]["cold"]["store"] / size
        shutil.rmtree(logs)
        floor = _median([measured["floor"]["seconds"] for measured in rounds])
        return [
            f"{size / 1e6:.0f} MB in {sessions} sessions, {rounds[0]['floor']['records']:.0f} records; {_machine()};",
            f"median of {ROUNDS} rounds; floor {size / 1e6 / floor:.0f} MB/s; store {share:.1%} of the logs.",
            f"Targets: {_TARGETS}.",
            "",
            "| run | seconds | ratio to the floor | to a cold ingest | CPU s | main process MB | a worker MB |",
            "|---|---|---|---|---|---|---|",
            _row("floor: bare typed decode, one process", "floor", rounds),
            _row("cold ingest, all guards replayed", "cold", rounds),
            _row("nothing new", "again", rounds),
            _row("one appended line", "grown", rounds),
            "",
            *_unchanged_files(Path(folder)),
        ]


def _round(logs: Path, store: Path) -> dict[str, Measured]:
    for file in store.parent.glob("store.duckdb*"):
        file.unlink()
    floor = _measured("floor", logs)
    cold = _measured("ingest", logs, store)
    cold["store"] = store.stat().st_size
    again = _measured("ingest", logs, store)
    _append_a_line(logs)
    return {"floor": floor, "cold": cold, "again": again, "grown": _measured("ingest", logs, store)}


def _row(name: str, what: str, rounds: Sequence[dict[str, Measured]]) -> str:
    def median(key: str) -> float:
        return _median([measured[what][key] for measured in rounds])

    def ratio(to: str) -> float:
        return _median([measured[what]["seconds"] / measured[to]["seconds"] for measured in rounds])

    main, worker = (max(measured[what][key] for measured in rounds) for key in ("main_mb", "worker_mb"))
    return (
        f"| {name} | {median('seconds'):.2f} | {ratio('floor'):.2f} | {ratio('cold'):.1%} | {median('cpu'):.2f} "
        f"| {main:.0f} | {worker:.0f} |"
    )


def _unchanged_files(folder: Path) -> list[str]:
    """A home with many logs, none of which has changed, against a bare look at each."""
    logs, store = folder / "many", folder / "many.duckdb"
    for number in range(UNCHANGED_FILES):
        write_small_log(logs, number)
    _measured("ingest", logs, store)
    rounds = [(_measured("stat", logs), _measured("ingest", logs, store)) for _ in range(ROUNDS)]
    seconds = _median([again["seconds"] for _, again in rounds])
    ratio = _median([again["seconds"] / bare["seconds"] for bare, again in rounds])
    return [f"{UNCHANGED_FILES} unchanged files: {seconds:.2f} s, {ratio:.1f} times a bare look at each."]


def _append_a_line(logs: Path) -> None:
    first = sorted(logs.glob("projects/*/chats/*.jsonl"))[0]
    lines = first.read_bytes().splitlines()
    record = json.loads(lines[-1])
    parent = record["uuid"]
    record.update(uuid=parent[:-4] + f"{len(lines):04x}", parentUuid=parent)
    with first.open("ab") as file:
        file.write(json.dumps(record).encode() + b"\n")


def _machine() -> str:
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9
    system = f"{platform.system()} on {platform.machine()}"
    return f"{os.cpu_count()} cores, {memory:.0f} GB of memory, {system}, Python {platform.python_version()}"


if __name__ == "__main__":
    wanted = int(sys.argv[1]) if len(sys.argv) > 1 else 500
    lines = measure(wanted)
    print(*lines, sep="\n")
    if len(sys.argv) > 2:
        Path(sys.argv[2]).write_text("\n".join(["# Measured by `make bench`", "", *lines, ""]), encoding="utf-8")
