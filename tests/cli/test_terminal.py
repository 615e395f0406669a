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
from tests.cli.conftest import Loopscope
from tests.cli.recordings import session_of
from tests.support.found_rows import publish, session

_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_SESSION = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def on_a_terminal(*arguments: str, width: int = 100) -> list[str]:
    """The command's lines, colours left out: any other escape sequence would stay and be seen."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, width, 0, 0))
    command = [sys.executable, "-c", "from cli.main import main; main()", *arguments]
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": str(width)}
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


COMMANDS = (
    ["triage"],
    ["show", session_of("0.21.10/f_replay_plus_fresh.acp")],
    ["guard", "list"],
    ["guard", "run", "fingerprint"],
    ["guard", "run", "fingerprint", "id-breaker"],
    ["guard", "diff", "id-breaker", "fingerprint"],
    ["guard", "check", "any-fingerprint"],
    ["cards", "--remedies"],
    ["doctor"],
)


@pytest.mark.parametrize("width", [80, 120])
@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_table_fits_and_tears_no_word(command: list[str], width: int, recorded: Path, loopscope: Loopscope) -> None:
    """All words of the piped answer, ids and paths apart: an id is cut on purpose, a path may be longer than the terminal."""
    store = () if command[:2] == ["guard", "check"] else ("--db", str(recorded))
    lines = on_a_terminal(*command, *store, width=width)
    assert max(map(cell_len, lines)) <= width
    assert not any("…" in line for line in lines)
    shown = {word.rstrip(";") for line in lines for word in line.split()}
    piped = [word for line in loopscope(*command, *store).out.splitlines() for word in line.split()]
    short = {word.rstrip(";") for word in piped if len(word) <= 30 and not set(word) <= {"─", "-"}}
    assert len(short) > 30
    assert short - shown <= {"subject", "failure", "why", "not"}, (
        "headings of columns that are empty, or stand above their rows"
    )
    ids = {word.rpartition(":")[0] or word for word in piped if _SESSION.match(word)}
    assert [one for one in ids if not any(word.startswith(one[:8]) for word in shown) and "/" not in one] == []


def test_a_query_of_many_columns_goes_below_its_rows(recorded: Path) -> None:
    lines = on_a_terminal("sql", "SELECT * FROM calls ORDER BY ALL LIMIT 2", "--db", str(recorded), width=80)
    assert max(map(cell_len, lines)) <= 80
    assert len([line for line in lines if line.startswith("  args_json ")]) == 2


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
