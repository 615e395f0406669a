"""The edge: what a fresh process imports, and which exit code each kind of end has."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

from cli.commands import triage
from cli.exit_codes import ExitCode
from cli.main import run
from ingest.errors import StoreBusy, StoreUnwritable
from tests.cli.conftest import Loopscope
from tests.support.found_rows import publish, session

HEAVY = ("streamlit", "polars", "duckdb", "pyarrow", "pandas", "numpy", "plotly", "rich", "msgspec")


def test_help_and_version_import_nothing_heavy() -> None:
    script = (
        "import sys, json\n"
        "from cli.main import run\n"
        "code = run(sys.argv[1:])\n"
        f"print(json.dumps([code, [name for name in {HEAVY!r} if name in sys.modules]]))"
    )
    for arguments in (["--help"], ["triage", "--help"], ["serve", "--help"], ["ingest", "--help"], ["demo", "--help"]):
        answer = subprocess.run([sys.executable, "-c", script, *arguments], capture_output=True, text=True, check=True)
        assert json.loads(answer.stdout.splitlines()[-1]) == [0, []], arguments


def test_help_names_every_command_and_exit_code(loopscope: Loopscope) -> None:
    answer = loopscope("--help")
    for command in ("ingest", "triage", "show", "guard", "sql", "doctor", "serve", "demo"):
        assert f"\n  {command} " in answer.out
    for code in ("0", "1", "2", "3", "4", "5", "130"):
        assert code in answer.out.split("Exit status:")[1]


READING = (["triage"], ["show", "x"], ["guard", "list"], ["guard", "diff", "a", "b"], ["sql", "SELECT 1"], ["doctor"])


@pytest.mark.parametrize("command", READING, ids=" ".join)
def test_without_a_store_every_command_says_what_to_run(command: list[str], loopscope: Loopscope, tmp_path: Path) -> None:
    answer = loopscope(*command, "--db", tmp_path / "none.duckdb")
    assert answer.code == ExitCode.NO_DATA
    assert "loopscope ingest PATH" in answer.out + answer.err


@pytest.mark.parametrize("command", READING, ids=" ".join)
def test_a_damaged_store(command: list[str], loopscope: Loopscope, tmp_path: Path) -> None:
    db = tmp_path / "store.duckdb"
    db.write_bytes(b"x" * 20_000)
    answer = loopscope(*command, "--db", db)
    assert answer.code == ExitCode.STORE
    assert str(db) in answer.out + answer.err


@pytest.mark.parametrize("command", READING, ids=" ".join)
def test_every_reading_command_takes_every_filter(command: list[str], loopscope: Loopscope, recorded: Path) -> None:
    filters = [f"--{name}=x" for name in ("model", "project", "client", "version", "session")]
    answer = loopscope(*command, *filters, "--since=7d", "--until=2026-11-30", "--as-of=2026-12-01T00:00Z", "--db", recorded)
    assert "No such option" not in answer.err
    assert "Traceback" not in answer.err


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["nonsense"], "No such command"),
        (["triage", "--nonsense"], "No such option"),
        (["triage", "--format", "xml"], "'xml' is not one of"),
        (["triage", "--since", "yesterday-ish"], "is no time"),
        (["triage", "--as-of", "2026-13-01"], "is no time"),
        (["show"], "Missing argument"),
    ],
)
def test_wrong_usage(arguments: list[str], says: str, loopscope: Loopscope) -> None:
    answer = loopscope(*arguments)
    assert answer.code == ExitCode.USAGE
    assert says in answer.err
    assert answer.out == ""


@pytest.mark.parametrize(
    ("raised", "code"),
    [
        (StoreBusy("held by 1"), 5),
        (StoreUnwritable("full"), 5),
        (KeyboardInterrupt(), 130),
        (duckdb.InternalException("a bug"), 4),
        (AssertionError("a bug"), 4),
    ],
)
def test_what_a_command_raises_becomes_a_code(
    raised: BaseException, code: int, loopscope: Loopscope, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> int:
        raise raised

    monkeypatch.setattr(triage.triage, "callback", fail)
    answer = loopscope("triage")
    assert answer.code == code
    assert answer.out == ""
    # Not 1: a script takes 1 for a finding. And only a bug shows a traceback.
    assert ("Traceback" in answer.err) == (code == 4)


def test_a_reader_that_has_enough_is_no_error(tmp_path: Path) -> None:
    db = publish(tmp_path / "store.duckdb", session("s"))
    script = "from cli.main import main; main()"
    query = "SELECT * FROM range(200000)"
    process = subprocess.Popen(
        [sys.executable, "-c", script, "sql", query, "--format=csv", "--db", str(db)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    assert process.stdout.readline() == b"range\n"
    process.stdout.close()
    err = process.stderr.read()
    process.stderr.close()
    assert process.wait() == 0
    assert err == b""


def test_a_terminal_without_unicode_gets_escapes(tmp_path: Path) -> None:
    db = publish(tmp_path / "store.duckdb", session("s"))
    answer = subprocess.run(
        [sys.executable, "-c", "from cli.main import main; main()", "sql", "SELECT '漢' AS a", "--db", str(db)],
        capture_output=True,
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
        check=True,
    )
    assert b"\\u6f22" in answer.stdout


def test_main_runs_without_arguments_and_shows_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([]) == 2
    assert "Usage: loopscope" in "".join(capsys.readouterr())


def test_the_codes_are_those_that_the_readme_promises() -> None:
    assert {code.name: int(code) for code in ExitCode} == {
        "OK": 0,
        "FOUND": 1,
        "USAGE": 2,
        "NO_DATA": 3,
        "CANNOT_TELL": 4,
        "STORE": 5,
        "INTERRUPTED": 130,
    }
