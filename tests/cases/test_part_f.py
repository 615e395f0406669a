"""CASES part F: several programs, killed runs, growing and vanishing logs, one bad file among many. As a user meets them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

import ingest.plan
from cli.main import run
from ingest.readers.base import Row
from ingest.readers.qwen_chat import QwenChatReader
from ingest.readers.qwen_wire import WireRecord
from ingest.records import Event, Place
from tests.cases.damage_case import CHATS, changed, healthy_lines, whole
from tests.cli.following import rows_of
from tests.ingest.store_content import content, first_difference

Command = Callable[..., tuple[int, str, str]]

CALLS = "SELECT session_id, turn_no, response_no, call_no, class, outcome FROM calls ORDER BY ALL"
VERDICTS = "SELECT session_id, verdict FROM sessions ORDER BY ALL"
RUNNING_BY = "2026-12-01T10:00:30Z"
"""While the healthy session is being written; it begins at ten."""


@pytest.fixture
def loopscope(capsys: pytest.CaptureFixture[str]) -> Command:
    """Exit code, stdout, stderr."""

    def loopscope(*arguments: object) -> tuple[int, str, str]:
        capsys.readouterr()
        code = run([str(argument) for argument in arguments])
        return code, *capsys.readouterr()

    return loopscope


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    """Three sessions."""
    for name in ("one", "two", "three"):
        write(tmp_path / "logs", name, healthy_lines(name))
    return tmp_path / "logs"


@pytest.fixture
def db(tmp_path: Path) -> Path:
    return tmp_path / "store.duckdb"


def write(root: Path, session_id: str, lines: Sequence[bytes], rest: bytes = b"") -> Path:
    path = root / CHATS / f"{session_id}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(whole(lines) + rest)
    return path


def ingested(*arguments: object) -> None:
    assert run(["ingest", *map(str, arguments)]) == 0


HOLD = """
import sys
import duckdb
con = duckdb.connect(sys.argv[1])
con.execute("CREATE TABLE theirs AS SELECT 1 AS x")
print("held", flush=True)
input()
"""


def test_f1_another_program_has_the_published_store_open_for_writing(
    logs: Path, db: Path, tmp_path: Path, loopscope: Command
) -> None:
    """duckdb/duckdb#17158 and others: who reads is told who holds it; a run takes its place with what it found."""
    ingested(logs, "--db", db)
    write(logs, "four", healthy_lines("four"))
    with held_open(db) as holder:
        code, _, told = loopscope("triage", "--db", db)
        assert code == 5
        assert str(holder.pid) in told
        assert "Move it away" not in told
        assert loopscope("ingest", logs, "--db", db)[0] == 0
        assert loopscope("triage", "--db", db)[0] == 0
    ingested(logs, "--db", tmp_path / "fresh.duckdb")
    assert first_difference(content(db), content(tmp_path / "fresh.duckdb")) == ""


def test_f1_another_program_has_the_working_file_open(logs: Path, db: Path, loopscope: Command) -> None:
    ingested(logs, "--db", db)
    before = db.read_bytes()
    write(logs, "four", healthy_lines("four"))
    with held_open(db.with_name("store.duckdb.work")) as holder:
        code, out, told = loopscope("ingest", logs, "--db", db)
        assert (code, out) == (5, "")
        assert str(holder.pid) in told
        assert "Close it there" in told
        assert db.read_bytes() == before, "nothing half-written"
        assert loopscope("triage", "--db", db)[0] == 0
    assert loopscope("ingest", logs, "--db", db)[0] == 0


@contextmanager
def held_open(path: Path) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-c", HOLD, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        yield holder
        holder.communicate("\n")


@pytest.mark.parametrize("after", [0.0, 0.05, 0.2, 0.6])
def test_f2_killed_between_or_within_files(after: float, tmp_path: Path, db: Path, loopscope: Command) -> None:
    """norrietaylor/distillery#647, duckdb/duckdb#15836: the store opens, and the same command again makes the same rows."""
    logs = tmp_path / "logs"
    for number in range(300):
        write(logs, f"session {number}", healthy_lines(f"session {number}"))
    killed = subprocess.Popen([sys.executable, "-m", "cli", "ingest", str(logs), "--db", str(db)], stderr=subprocess.DEVNULL)
    working_file = db.with_name("store.duckdb.work")
    while not working_file.exists():
        time.sleep(0.01)
    time.sleep(after)
    killed.send_signal(signal.SIGKILL)
    assert killed.wait() in (0, -signal.SIGKILL)
    code, _, told = loopscope("ingest", logs, "--db", db)
    assert code == 0
    assert "damaged" not in told
    ingested(logs, "--db", tmp_path / "fresh.duckdb")
    assert first_difference(content(db), content(tmp_path / "fresh.duckdb")) == ""


def test_f3_a_file_grows_while_it_is_read(tmp_path: Path, db: Path, loopscope: Command) -> None:
    """r-spade/ormah#33, letta-ai/letta-code#3590: n rows and a pending tail, then n + 4, none of them twice."""
    lines = healthy_lines("grown")
    n = len(lines) - 4
    log = write(tmp_path / "logs", "grown", lines[:n], rest=lines[n][: len(lines[n]) // 2])
    ingested(tmp_path / "logs", "--db", db)
    assert rows_of(db, "SELECT records, status, problems FROM sources") == [(n, "tail-pending", 0)]
    code, out, _ = loopscope("sql", VERDICTS, "--as-of", RUNNING_BY, "--format", "csv", "--db", db)
    assert (code, out.splitlines()[1:]) == (0, ["grown,running"])
    log.write_bytes(whole(lines))
    ingested(tmp_path / "logs", "--db", db)
    assert rows_of(db, "SELECT records, status, problems FROM sources") == [(n + 4, "complete", 0)]
    assert rows_of(db, VERDICTS) == [("grown", "completed")]
    assert [row[1:4] for row in rows_of(db, CALLS)] == [(1, 1, 1), (1, 2, 1), (1, 2, 2), (2, 1, 1)]


def test_f5_the_same_again_after_an_upgrade(logs: Path, db: Path, monkeypatch: pytest.MonkeyPatch, loopscope: Command) -> None:
    """Necmttn/ax#680: the later parser numbers records otherwise. All is read again: the same totals, nothing skipped."""
    log = logs / CHATS / "one.jsonl"
    log.write_bytes(b"\n".join([whole(healthy_lines("one")), b'{"broken', b""]))
    ingested(logs, "--db", db)
    before = rows_of(db, "SELECT count(*) FROM calls"), rows_of(db, "SELECT count(*) FROM problems")
    assert before == ([(12,)], [(1,)])

    def numbered_otherwise(self: QwenChatReader, wire: WireRecord, place: Place) -> Sequence[Row] | None:
        """A record more before each, so that no number is what it was."""
        rows = plain(self, wire, place)
        return rows and [Event(place=place, session_id=wire.session_id or "", channel="side", name="new"), *rows]

    plain = QwenChatReader.rows
    later = QwenChatReader.version + 1
    monkeypatch.setattr(QwenChatReader, "rows", numbered_otherwise)
    monkeypatch.setattr(QwenChatReader, "version", later)
    monkeypatch.setitem(ingest.plan._READER_VERSIONS, QwenChatReader.format, later)
    for read in (3, 0):
        code, _, told = loopscope("ingest", logs, "--db", db)
        assert code == 0
        assert f"Files: {read} read" in told
        assert "0 skipped, 0 unreadable" in told
        assert (rows_of(db, "SELECT count(*) FROM calls"), rows_of(db, "SELECT count(*) FROM problems")) == before


def test_f6_one_bad_file_of_thirty_five(tmp_path: Path, db: Path, loopscope: Command) -> None:
    """d-kimuson/claude-code-viewer#160: 34 are done, one is named, and a strict run fails."""
    logs = tmp_path / "logs"
    for number in range(34):
        write(logs, f"session {number}", healthy_lines(f"session {number}"))
    # Opens, and gives an I/O error when it is read, whoever asks.
    (logs / CHATS / "bad.jsonl").symlink_to("/proc/self/mem")
    code, _, told = loopscope("ingest", logs, "--db", db)
    assert code == 0
    assert "Files: 34 read" in told
    assert "1 unreadable" in told
    assert "/mem: Input/output error" in told
    assert rows_of(db, "SELECT count(*) FROM sessions") == [(34,)]
    assert rows_of(db, "SELECT kind, detail FROM problems") == [("unreadable", "Input/output error")]
    assert loopscope("ingest", logs, "--strict", "--db", db)[0] == 1


@pytest.mark.parametrize(
    "command",
    [
        ("triage", "--as-of", "2100-01-01", "--format", "json"),
        ("sql", "SELECT * FROM calls", "--format", "json"),
        ("sql", "SELECT * FROM sessions", "--format", "csv"),
    ],
)
def test_f8_a_filter_is_applied_and_not_only_accepted(
    command: Sequence[str], tmp_path: Path, db: Path, loopscope: Command
) -> None:
    """kenn-io/agentsview#1047: three session ids, three different answers, each of its own session only."""
    names = ("first-session", "second-session", "third-session")
    for name in names:
        write(tmp_path / "logs", name, healthy_lines(name)[:-2])  # cut off, so that there is something to say
    ingested(tmp_path / "logs", "--db", db)
    answers = {name: loopscope(*command, "--session", name, "--db", db)[1] for name in names}
    for name, out in answers.items():
        assert name in out
        assert not [other for other in names if other != name and other in out]
    for unknown in (("show", "no-such"), (*command, "--session", "no-such")):
        code, out, told = loopscope(*unknown, "--db", db)
        assert (code, out) == (3, "")
        assert "no-such" in told


def test_f10_pruned_logs_keep_their_rows(logs: Path, db: Path, loopscope: Command) -> None:
    """antiburn/antiburn#245, bborn/taskyou#105: what vanished between two runs is marked and still counts."""
    ingested(logs, "--db", db)
    calls = rows_of(db, CALLS)
    os.unlink(logs / CHATS / "one.jsonl")
    code, _, told = loopscope("ingest", logs, "--db", db)
    assert code == 0
    assert "2 unchanged" in told
    assert "1 gone" in told
    assert rows_of(db, CALLS) == calls
    assert rows_of(db, "SELECT source_path, records > 0 FROM sources WHERE status = 'gone'") == [
        (f"{logs / CHATS / 'one.jsonl'}", True)
    ]


@pytest.mark.parametrize("order", [("older", "newer"), ("newer", "older")])
def test_f11_one_session_under_two_roots(order: Sequence[str], tmp_path: Path, db: Path) -> None:
    """One of them an older copy: one session, as the longer one tells it, not the sum of both."""
    lines = healthy_lines("both")
    write(tmp_path / "older", "both", lines[:-5])
    write(tmp_path / "newer", "both", lines)
    for root in order:
        ingested(tmp_path / root, "--db", db)
    assert rows_of(db, "SELECT session_id, turns, calls, verdict FROM sessions") == [("both", 2, 4, "completed")]
    assert rows_of(db, "SELECT count(*) FROM problems") == [(0,)]
    assert rows_of(db, "SELECT DISTINCT source_path FROM calls") == [(f"{tmp_path / 'newer' / CHATS / 'both.jsonl'}",)]


def test_f11_copies_that_went_different_ways(tmp_path: Path, db: Path) -> None:
    """The longer one counts, and where the other parts from it is told."""
    lines = healthy_lines("both")
    write(tmp_path / "longer", "both", lines)
    own = [changed(lines[6], uuid="another-way"), changed(lines[6], uuid="further-on", parentUuid="another-way")]
    other = write(tmp_path / "other", "both", [*lines[:6], *own])
    ingested(tmp_path / "longer", tmp_path / "other", "--db", db)
    assert rows_of(db, "SELECT session_id, turns, calls, verdict FROM sessions") == [("both", 2, 4, "completed")]
    assert rows_of(db, "SELECT source_path, line, kind FROM problems") == [(str(other), 7, "divergent-copy")]
