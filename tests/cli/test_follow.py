"""`ingest --follow`: what is written is in the store soon after, once, whatever happens to files, disk and process."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import RECORDINGS, Loopscope
from tests.cli.following import Follower, rows_of
from tests.cli.recordings import log_of

SOON = 15.0
"""Seconds. It takes two on an idle machine (docs/observing.md); the test machine may be busy with ten others."""
VERDICT = "SELECT verdict FROM sessions"
CALLS = "SELECT turn_no, response_no, call_no, class, outcome, source_line FROM calls ORDER BY ALL"
RECORDS = "SELECT records, status FROM sources ORDER BY source_path"


@pytest.fixture
def whole() -> list[bytes]:
    """The lines of a session of six calls that completed."""
    return log_of("0.24.4/e_normal").read_bytes().splitlines(keepends=True)


@pytest.fixture
def log(tmp_path: Path, whole: list[bytes]) -> Path:
    """The session as it stands in the middle of a call."""
    path = tmp_path / "logs" / "chats" / log_of("0.24.4/e_normal").name
    path.parent.mkdir(parents=True)
    path.write_bytes(b"".join(whole[: middle_of(whole)]))
    return path


def middle_of(lines: list[bytes]) -> int:
    """Right behind the third call."""
    calls = [number for number, line in enumerate(lines, 1) if b'"functionCall"' in line]
    return calls[2]


@pytest.fixture
def follower(tmp_path: Path, log: Path) -> Iterator[Follower]:
    with Follower(tmp_path / "store.duckdb", tmp_path / "logs") as follower:
        follower.wait_for("Following ")
        yield follower


def at_once(log: Path, tmp_path: Path) -> list[tuple[object, ...]]:
    """The calls of the log as it is now, read in one go."""
    db = tmp_path / "at-once" / "store.duckdb"
    subprocess.run([sys.executable, "-m", "cli", "ingest", str(log), "--db", str(db)], check=True, capture_output=True)
    return rows_of(db, CALLS)


def test_a_session_becomes_completed_by_itself_and_each_line_counts_once(
    follower: Follower, log: Path, whole: list[bytes], tmp_path: Path
) -> None:
    begun = middle_of(whole)
    assert rows_of(follower.db, VERDICT) == [("truncated",)]
    with log.open("ab", buffering=0) as writing:
        writing.write(whole[begun][:30])
        follower.until_rows(RECORDS, [(begun, "tail-pending")])
        writing.write(whole[begun][30:])
        follower.until_rows(RECORDS, [(begun + 1, "complete")])
        for line in whole[begun + 1 :]:
            writing.write(line)
    assert follower.until_rows(VERDICT, [("completed",)]) < SOON
    assert rows_of(follower.db, CALLS) == at_once(log, tmp_path)
    follower.wait_for("1 completed (+1)")
    assert any("0 truncated (-1)" in line for line in follower.said)


def test_a_rotated_log_is_one_session_still(follower: Follower, log: Path, whole: list[bytes], tmp_path: Path) -> None:
    begun = middle_of(whole)
    log.rename(log.with_name(log.name + ".1"))
    log.write_bytes(b"".join(whole[begun:]))
    follower.until_rows("SELECT count(*) FROM calls", [(6,)])
    assert rows_of(follower.db, VERDICT) == [("completed",)]
    assert rows_of(follower.db, "SELECT count(*) FROM sessions") == [(1,)]
    assert rows_of(follower.db, "SELECT count(*) FROM problems") == [(0,)]


def test_a_log_cut_off_in_place_drops_what_it_said(follower: Follower, log: Path, whole: list[bytes]) -> None:
    """As `logrotate` does with copytruncate: the file stays the same and begins anew."""
    os.truncate(log, 0)
    with log.open("ab") as writing:
        writing.write(b"".join(whole[:2]))
    follower.until_rows(RECORDS, [(2, "complete")])


def test_a_deleted_folder_keeps_its_rows_and_may_come_back(follower: Follower, log: Path, whole: list[bytes]) -> None:
    calls = rows_of(follower.db, CALLS)
    root = log.parents[1]
    shutil.rmtree(root)
    follower.until_rows("SELECT status FROM sources", [("gone",)])
    assert rows_of(follower.db, CALLS) == calls
    log.parent.mkdir(parents=True)
    log.write_bytes(b"".join(whole))
    follower.until_rows(VERDICT, [("completed",)])


def test_a_folder_that_is_not_there_yet_is_waited_for(tmp_path: Path, whole: list[bytes]) -> None:
    root = tmp_path / "later"
    with Follower(tmp_path / "store.duckdb", root) as follower:
        follower.wait_for("Following ")
        (root / "chats").mkdir(parents=True)
        (root / "chats" / "session.jsonl").write_bytes(b"".join(whole))
        follower.until_rows(VERDICT, [("completed",)])


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_asked_to_end_it_finishes_and_says_that_all_is_well(
    follower: Follower, log: Path, whole: list[bytes], number: signal.Signals, loopscope: Loopscope, tmp_path: Path
) -> None:
    with log.open("ab") as writing:
        writing.write(b"".join(whole[middle_of(whole) :]))
    assert follower.end(number) == 0
    assert not follower.db.with_name("store.duckdb.new").exists()
    assert loopscope("ingest", tmp_path / "logs", "--db", follower.db).code == 0
    assert rows_of(follower.db, CALLS) == at_once(log, tmp_path)


def test_asked_to_end_in_its_first_run_it_ends_there(tmp_path: Path, loopscope: Loopscope) -> None:
    db = tmp_path / "store.duckdb"
    with Follower(db, RECORDINGS) as follower:
        follower.until(db.with_name("store.duckdb.work").exists, "it began")
        assert follower.end(signal.SIGTERM) == 0
    assert loopscope("ingest", RECORDINGS, "--db", db).code == 0
    fresh = tmp_path / "fresh.duckdb"
    assert loopscope("ingest", RECORDINGS, "--db", fresh).code == 0
    for question in (CALLS, RECORDS, "SELECT * FROM findings ORDER BY ALL"):
        assert rows_of(db, question) == rows_of(fresh, question)


def test_a_full_disk_leaves_the_old_copy_and_is_told_once(follower: Follower, log: Path, whole: list[bytes]) -> None:
    """The process may write no file beyond its present length: that is how it sees a full disk."""
    pid = follower.process.pid
    _, hard = resource.prlimit(pid, resource.RLIMIT_FSIZE)
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (1, hard))
    with log.open("ab") as writing:
        writing.write(b"".join(whole[middle_of(whole) :]))
    follower.wait_for("Following goes on and tries again")
    assert rows_of(follower.db, VERDICT) == [("truncated",)]
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (hard, hard))
    follower.until_rows(VERDICT, [("completed",)])
    told = [line for line in follower.said if "cannot be" in line]
    assert len(told) == len(set(told))
    assert follower.end(signal.SIGTERM) == 0


def test_a_second_writer_is_told_who_follows_and_what_to_do(follower: Follower, tmp_path: Path, loopscope: Loopscope) -> None:
    before = follower.db.read_bytes()
    answer = loopscope("ingest", tmp_path / "logs", "--db", follower.db)
    assert answer.code == 5
    assert f"process {follower.process.pid}" in answer.err
    assert "Wait for it or stop it" in answer.err
    assert follower.db.read_bytes() == before
    assert loopscope("triage", "--db", follower.db).code == 0, "and reading is possible meanwhile"


def test_strict_does_not_go_with_follow(loopscope: Loopscope, tmp_path: Path) -> None:
    assert loopscope("ingest", "--follow", "--strict", tmp_path, "--db", tmp_path / "db").code == 2
