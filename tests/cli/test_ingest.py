"""What `ingest` says and how it ends, on real logs and on what is no log."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import pytest

from ingest.summary import Skipped, Summary
from tests.cli.conftest import RECORDINGS, Loopscope
from tests.cli.recordings import log_of

REPLAY = RECORDINGS / "0.24.4" / "b_true_replay"


def test_the_summary_counts_what_the_log_holds(loopscope: Loopscope, tmp_path: Path) -> None:
    log = log_of("0.24.4/b_true_replay")
    answer = loopscope("ingest", log, "--db", tmp_path / "store.duckdb")
    assert answer.code == 0
    assert answer.out == ""
    assert "Files: 1 read" in answer.err
    lines = log.read_bytes().count(b"\n")
    assert int(re.findall(r"(\d+) records", answer.err)[0]) <= lines
    assert "3 calls, 0 problems" in answer.err
    assert "1 sessions analysed" in answer.err
    assert "Sessions: 1 stopped-visibly" in answer.err
    assert "Findings: 1 replay-loop" in answer.err


def test_the_next_step_is_of_the_store_that_was_written(
    loopscope: Loopscope, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOOPSCOPE_DB", str(tmp_path / "own.duckdb"))
    other = tmp_path / "an other.duckdb"
    assert loopscope("ingest", REPLAY).err.endswith("\nNext: loopscope triage\n")
    *_, last = loopscope("ingest", REPLAY, "--db", other).err.splitlines()
    assert last.startswith("Next: loopscope triage ")
    assert loopscope(*shlex.split(last.removeprefix("Next: loopscope "))).code == 0


def test_the_same_folder_again_reads_nothing(loopscope: Loopscope, tmp_path: Path) -> None:
    first = loopscope("ingest", REPLAY, "--db", tmp_path / "store.duckdb")
    again = loopscope("ingest", REPLAY, "--db", tmp_path / "store.duckdb")
    files = re.findall(r"Files: (\d+) read", first.err)[0]
    assert again.code == 0
    assert f"Files: 0 read (0.0 MB), {files} unchanged" in again.err
    assert "Sessions: 1 stopped-visibly" in again.err


def test_a_path_that_is_not_there_is_named_and_the_rest_read(loopscope: Loopscope, tmp_path: Path) -> None:
    missing = tmp_path / "missing"
    answer = loopscope("ingest", missing, REPLAY, "--db", tmp_path / "store.duckdb")
    assert answer.code == 0
    assert f"There is no {missing}" in answer.err
    assert "3 calls" in answer.err
    assert loopscope("ingest", missing, REPLAY, "--strict", "--db", tmp_path / "store.duckdb").code == 1


def test_only_a_path_that_is_not_there(loopscope: Loopscope, tmp_path: Path) -> None:
    answer = loopscope("ingest", tmp_path / "missing", "--db", tmp_path / "store.duckdb")
    assert answer.code == 3
    assert "nothing to read" in answer.err


@pytest.mark.parametrize("content", [None, b"\x7fELF\x02\x01\x00\xff" * 100, b'{"foreign": true}\n' * 3, b""])
def test_where_no_log_is_the_answer_is_no_data(content: bytes | None, loopscope: Loopscope, tmp_path: Path) -> None:
    folder = tmp_path / "logs"
    folder.mkdir()
    if content is not None:
        (folder / "session.jsonl").write_bytes(content)
    for _ in range(2):
        answer = loopscope("ingest", folder, "--db", tmp_path / "store.duckdb")
        assert answer.code == 3
        assert f"No log of a known client below {folder}" in answer.err
        assert answer.out == ""


def test_damage_is_counted_and_fails_a_strict_run_only(loopscope: Loopscope, tmp_path: Path) -> None:
    whole = log_of("0.24.4/b_true_replay").read_bytes()
    log = tmp_path / "chats" / "0d86f3a1-0000-4000-8000-000000000000.jsonl"
    log.parent.mkdir()
    lines = whole.splitlines(keepends=True)
    log.write_bytes(b"".join([*lines[:2], b'{"uuid": broken\n', *lines[2:]]))
    for _ in range(2):  # what is known of a file that has not changed is no better for it
        strict = loopscope("ingest", log, "--strict", "--db", tmp_path / "strict.duckdb")
        assert strict.code == 1
    assert "1 problems, told when they were read" in strict.err
    lenient = loopscope("ingest", log, "--db", tmp_path / "store.duckdb")
    assert lenient.code == 0
    assert "3 calls, 1 problems" in lenient.err
    told = loopscope("sql", "SELECT line, source_path FROM problems", "--format=json", "--db", tmp_path / "store.duckdb")
    assert told.json() == [{"line": 3, "source_path": str(log)}]


def test_without_a_path_it_says_where_it_looked(loopscope: Loopscope, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    answer = loopscope("ingest", "--db", tmp_path / "store.duckdb")
    assert answer.code == 3
    assert f"{home / '.qwen'}: not there" in answer.err
    shutil.copytree(REPLAY / "qwen-home", home / ".qwen")
    answer = loopscope("ingest", "--db", tmp_path / "store.duckdb")
    assert answer.code == 0
    assert f"{home / '.qwen'}: found" in answer.err
    assert "3 calls" in answer.err


def test_ten_paths_are_listed_and_the_others_counted(
    loopscope: Loopscope, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, recorded: Path
) -> None:
    skipped = [Skipped(f"/logs/{number}\x1b[2J", "no reader knows its content") for number in range(13)]
    monkeypatch.setattr("cli.engine.run_ingest", lambda *_: Summary(unchanged=1, skipped=skipped, unreadable=skipped[:1]))
    answer = loopscope("ingest", tmp_path, "--strict", "--db", recorded)
    assert answer.code == 1
    listed = answer.err.split("Skipped:\n")[1].splitlines()
    assert listed[9] == r"  /logs/9\x1b[2J: no reader knows its content"
    assert listed[10] == "  and 3 more"
    assert "\x1b" not in answer.err
