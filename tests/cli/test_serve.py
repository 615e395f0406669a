"""`serve` as a process: where it listens, which store it shows, and that nothing stays behind it."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from ingest.store.writable import WritableStore
from tests.cli.conftest import Loopscope
from tests.cli.following import rows_of
from tests.cli.recordings import log_of


@pytest.fixture
def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def test_a_taken_port_is_wrong_usage(loopscope: Loopscope, tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        answer = loopscope("serve", "--port", port, "--headless", "--db", tmp_path / "none.duckdb")
    assert answer.code == 2
    assert f"Port {port}" in answer.err
    assert "--port" in answer.err


@pytest.mark.parametrize("ended_by", [signal.SIGTERM, signal.SIGINT])
def test_the_dashboard_answers_on_this_machine_and_ends_with_us(
    ended_by: signal.Signals, free_port: int, recorded: Path
) -> None:
    """As `ingest --follow` does: to be ended is what it waits for, and no failure for `make` to tell of."""
    command = [sys.executable, "-c", "from cli.main import main; main()", "serve", "--headless", "--port", str(free_port)]
    # A session of its own: Ctrl-C at a terminal reaches the whole group, which the test imitates.
    process = subprocess.Popen(
        [*command, "--db", str(recorded)], stderr=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
    )
    try:
        wait_until_healthy(free_port, process)
        if ended_by is signal.SIGINT:
            os.killpg(process.pid, ended_by)
        else:
            process.send_signal(ended_by)
        assert process.wait(30) == 0
        with pytest.raises(urllib.error.URLError):
            urllib.request.urlopen(f"http://127.0.0.1:{free_port}/_stcore/health", timeout=5)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        _, err = process.communicate()
    first, last = err.decode().splitlines()
    assert first == f"Dashboard of {recorded} on http://127.0.0.1:{free_port} (Ctrl-C ends it)"
    assert last == "The dashboard has ended."


def test_the_pages_are_told_the_setting_of_the_file(
    loopscope: Loopscope, free_port: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "settings.toml"
    file.write_text("running_for_minutes = 2.5\n", encoding="utf-8")
    monkeypatch.setenv("LOOPSCOPE_CONFIG", str(file))
    monkeypatch.delenv("LOOPSCOPE_RUNNING_FOR_MINUTES", raising=False)
    told: dict[str, str] = {}

    class Child:
        def __init__(self, command: list[str], *, cwd: Path, env: dict[str, str]) -> None:
            told.update(env)

        def wait(self) -> int:
            return 0

    monkeypatch.setattr("cli.commands.serve.subprocess.Popen", Child)
    assert loopscope("serve", "--port", free_port, "--headless", "--db", tmp_path / "s.duckdb").code == 0
    assert (told["LOOPSCOPE_RUNNING_FOR_MINUTES"], told["LOOPSCOPE_DB"]) == ("2.5", str(tmp_path / "s.duckdb"))


def test_following_is_a_process_of_its_own_and_ends_with_the_dashboard(free_port: int, tmp_path: Path) -> None:
    """Of a relative path too: the processes run elsewhere."""
    db, log = tmp_path / "store.duckdb", log_of("0.24.4/e_normal")
    (tmp_path / "logs").mkdir()
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    command = [
        sys.executable,
        "-m",
        "cli",
        "serve",
        "--headless",
        "--port",
        str(free_port),
        "--follow",
        "logs",
        "--db",
        db.name,
    ]
    process = subprocess.Popen(command, cwd=tmp_path, env=environment, stderr=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        wait_until_healthy(free_port, process)
        shutil.copy(log, tmp_path / "logs")
        deadline = time.monotonic() + 90
        while not db.exists() or rows_of(db, "SELECT verdict FROM sessions") != [("completed",)]:
            assert time.monotonic() < deadline
            time.sleep(0.2)
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0
        with WritableStore(db, wait=0.0):
            pass  # nobody holds it any more
    finally:
        if process.poll() is None:
            process.kill()
        _, err = process.communicate()
    assert f"Following {tmp_path / 'logs'}" in err.decode()


def wait_until_healthy(port: int, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 90
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/_stcore/health", timeout=5) as answer:
                assert answer.read() == b"ok"
                return
        except OSError:
            time.sleep(0.2)
    raise AssertionError(f"the dashboard did not answer; it ended with {process.poll()}")
