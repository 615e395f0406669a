from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ingest.reading import ToRead
from ingest.workers import WORTH_FORKING, Workers, WorkersDied, worker_count
from tests.ingest.toy_run import ToyAnalysis


def groups(count: int) -> list[list[ToRead]]:
    return [[ToRead(number, "", f"file {number}", 0, None)] for number in range(count)]


def test_little_work_starts_no_process() -> None:
    assert worker_count(WORTH_FORKING, None) == 1
    assert worker_count(WORTH_FORKING + 1, None) == min(os.cpu_count() or 1, 8)
    assert worker_count(0, 2) == 2, "unless somebody asks for it"
    assert worker_count(1 << 40, 0) == 1


@pytest.mark.parametrize("count", [1, 2])
def test_groups_come_back_in_order(count: int) -> None:
    with Workers(count, ToyAnalysis()) as workers:
        assert [group.outcomes[0].source_id for group in workers.read(groups(20))] == list(range(20))


def test_a_worker_that_dies_ends_the_run_with_what_to_try(monkeypatch: pytest.MonkeyPatch) -> None:
    def die(*_: object) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    monkeypatch.setattr("ingest.workers.read_group", die)  # the fork inherits it
    with Workers(2, ToyAnalysis()) as workers, pytest.raises(WorkersDied, match="memory"):
        list(workers.read(groups(1)))


def test_workers_end_with_a_killed_parent(tmp_path: Path) -> None:
    program = (
        "import os, time; from ingest.workers import Workers\n"
        "with Workers(2, None) as workers:\n"
        "    print(*workers._pool._processes, flush=True)\n"
        "    time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        pids = [int(pid) for pid in parent.stdout.readline().split()]
        parent.kill()
    assert len(pids) == 2
    deadline = time.monotonic() + 20
    while any(_is_alive(pid) for pid in pids):
        assert time.monotonic() < deadline, "they wait for ever"
        time.sleep(0.1)


def _is_alive(pid: int) -> bool:
    """A process that has ended and that nobody has waited for yet counts as ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False
