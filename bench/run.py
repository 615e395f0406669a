"""`python -m bench.run [MEGABYTES] [OUT.md]`: how fast ingest is, as a ratio to the floor measured in the same run.

Every measurement is a process of its own, so that imports, memory and caches of one do not help the next; the time is taken
inside it, after the imports. The files are read once before, so that the disk is in no number.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.corpus import write_corpus

ROUNDS = 3
_MEASURE = "bench.measure"


def _measured(what: str, *args: object) -> dict[str, float]:
    command = [sys.executable, "-m", _MEASURE, what, *map(str, args)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, cwd=Path(__file__).parent.parent)
    result: dict[str, float] = {key: value for key, value in json.loads(done.stdout).items() if key != "what"}
    return result


def _median(values: list[float]) -> float:
    return sorted(values)[len(values) // 2]


def measure(megabytes: int) -> list[str]:
    with TemporaryDirectory(prefix="loopscope-bench-") as folder:
        logs, store = Path(folder) / "logs", Path(folder) / "store.duckdb"
        sessions, size = write_corpus(logs, megabytes)
        _measured("floor", logs)
        rounds = []
        for _ in range(ROUNDS):
            for file in Path(folder).glob("store.duckdb*"):
                file.unlink()
            floor = _measured("floor", logs)
            cold = _measured("ingest", logs, store)
            again = _measured("ingest", logs, store)
            _append_a_line(logs)
            grown = _measured("ingest", logs, store)
            rounds.append((floor, cold, again, grown))
        floor_seconds = _median([floor["seconds"] for floor, *_ in rounds])

        def row(name: str, index: int) -> str:
            seconds = _median([measured[index]["seconds"] for measured in rounds])
            ratio = _median([measured[index]["seconds"] / measured[0]["seconds"] for measured in rounds])
            memory = max(measured[index]["main_mb"] for measured in rounds)
            worker = max(measured[index]["worker_mb"] for measured in rounds)
            return f"| {name} | {seconds:.2f} | {ratio:.2f} | {memory:.0f} | {worker:.0f} |"

        share = store.stat().st_size / size
        return [
            f"{size / 1e6:.0f} MB in {sessions} sessions, {rounds[0][0]['records']:.0f} records; {_machine()};",
            f"median of {ROUNDS} rounds; floor {size / 1e6 / floor_seconds:.0f} MB/s; store {share:.1%} of the logs",
            "",
            "| run | seconds | ratio to the floor | main process MB | a worker MB |",
            "|---|---|---|---|---|",
            row("floor: bare typed decode, one process", 0),
            row("ingest, all guards replayed", 1),
            row("nothing new", 2),
            row("one appended line", 3),
        ]


def _append_a_line(logs: Path) -> None:
    first = sorted(logs.glob("projects/*/chats/*.jsonl"))[0]
    lines = first.read_bytes().splitlines()
    record = json.loads(lines[-1])
    parent = record["uuid"]
    record.update(uuid=parent[:-4] + f"{len(lines):04x}", parentUuid=parent)
    with first.open("ab") as file:
        file.write(json.dumps(record).encode() + b"\n")


def _machine() -> str:
    return f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}"


if __name__ == "__main__":
    wanted = int(sys.argv[1]) if len(sys.argv) > 1 else 500
    lines = measure(wanted)
    print(*lines, sep="\n")
    if len(sys.argv) > 2:
        Path(sys.argv[2]).write_text("\n".join(["# Measured by `make bench`", "", *lines, ""]), encoding="utf-8")
