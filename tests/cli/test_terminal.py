"""What only a terminal gets: colours, folding to its width, and a bar while work takes long."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pytest
from rich.cells import cell_len

from cli import progress_bar
from cli.progress_bar import ProgressBar
from tests.cli.recordings import session_of
from tests.support.found_rows import publish, session

WIDTH = 100
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def on_a_terminal(*arguments: str) -> list[str]:
    """The command's lines, colours left out: any other escape sequence would stay and be seen."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, WIDTH, 0, 0))
    command = [sys.executable, "-c", "from cli.main import main; main()", *arguments]
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": str(WIDTH)}
    process = subprocess.Popen(command, stdin=theirs, stdout=theirs, env=environment)
    os.close(theirs)
    written = b"".join(iter(lambda: read(ours), b""))
    os.close(ours)
    assert process.wait() == 0
    text = written.decode()
    assert _COLOUR.search(text)
    return _COLOUR.sub("", text).splitlines()


def read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:  # how Linux says that the other side is gone
        return b""


@pytest.mark.parametrize("command", [["triage"], ["show", session_of("0.21.10/f_replay_plus_fresh.acp")], ["guard", "list"]])
def test_a_table_fits_and_loses_nothing(command: list[str], recorded: Path) -> None:
    lines = on_a_terminal(*command, "--db", str(recorded))
    assert max(map(cell_len, lines)) <= WIDTH
    assert not any("…" in line for line in lines)


def test_a_hostile_name_is_shown_as_text(tmp_path: Path) -> None:
    made = session("s", models=("\x1b]0;title\x07[red]m[/red]",))
    lines = on_a_terminal("triage", "--db", str(publish(tmp_path / "store.duckdb", made)))
    assert any(r"\x1b]0;title\x07[red]m[/red]" in line for line in lines)
    assert not any("\x1b" in line or "\x07" in line for line in lines)


class TestProgressBar:
    def work(self) -> None:
        with ProgressBar() as bar:
            bar.stage("read", 100, "bytes")
            bar.advance(60)
            bar.stage("analyse", 4, "sessions")
            bar.advance(4)

    def test_on_a_terminal_each_stage_is_drawn(
        self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.setattr(progress_bar, "AFTER_SECONDS", 0.0)
        monkeypatch.setattr("sys.stderr.isatty", lambda: True)
        monkeypatch.setenv("TERM", "xterm")
        self.work()
        out, err = capsys.readouterr()
        assert out == ""
        assert "analyse" in err
        assert "100%" in err

    @pytest.mark.parametrize(("terminal", "after"), [(False, 0.0), (True, 60.0)])
    def test_elsewhere_and_for_short_work_nothing_is(
        self, terminal: bool, after: float, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.setattr(progress_bar, "AFTER_SECONDS", after)
        monkeypatch.setattr("sys.stderr.isatty", lambda: terminal)
        self.work()
        assert capsys.readouterr() == ("", "")
