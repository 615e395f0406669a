"""Folders of real recordings through the pipeline: each byte once, each file as it is now, whatever happened in between."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path

import duckdb
import pytest

from ingest.errors import StoreBusy
from ingest.records import SessionFacts
from ingest.store.writable import WritableStore
from tests.ingest.toy_run import ToyAnalysis, content, run
from tests.support.ingested import ingest_into

RECORDINGS = Path(__file__).parents[2] / "data" / "recordings" / "0.24.4"
NAMES = ("b_true_replay.serve", "e_normal", "l_subagent_replay.acp", "h8_continue_after_kill")


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    for name in NAMES:
        shutil.copytree(RECORDINGS / name, tmp_path / "logs" / name)
    return tmp_path / "logs"


def chat_log(logs: Path, name: str) -> Path:
    (path,) = (path for path in (logs / name).rglob("chats/*.jsonl") if not path.name.endswith(".ledger.jsonl"))
    return path


def lines_of(path: Path) -> int:
    return path.read_bytes().count(b"\n")


def statuses(db: Path) -> dict[str, tuple[str, int]]:
    with duckdb.connect(db, read_only=True) as con:
        rows = con.execute("SELECT source_path, status, records FROM sources").fetchall()
    return {path: (status, records) for path, status, records in rows}


def query(db: Path, sql: str) -> list[tuple[object, ...]]:
    with duckdb.connect(db, read_only=True) as con:
        return con.execute(sql).fetchall()


def test_a_healthy_folder_is_read_whole_and_without_a_problem(logs: Path, tmp_path: Path) -> None:
    db = tmp_path / "db"
    summary = run(logs, db)
    assert summary.problems == 0
    assert (summary.unchanged, summary.gone, summary.unreadable, summary.failed) == (0, 0, [], [])
    assert summary.published
    assert query(db, "SELECT count(*) FROM problems") == [(0,)]
    log = chat_log(logs, "e_normal")
    assert query(db, f"SELECT bytes, read_bytes, status FROM sources WHERE source_path = '{log}'") == [
        (log.stat().st_size, log.stat().st_size, "complete")
    ]


def test_the_same_folder_again_changes_nothing(logs: Path, tmp_path: Path) -> None:
    db = tmp_path / "db"
    first = run(logs, db)
    before, file = content(db), db.stat()
    again = run(logs, db)
    assert (again.read, again.records, again.sessions_analysed, again.published) == (0, 0, 0, False)
    assert again.unchanged == first.read
    assert (db.stat().st_ino, db.stat().st_mtime_ns) == (file.st_ino, file.st_mtime_ns)
    assert content(db) == before


def test_an_unchanged_file_is_not_even_opened(logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run(logs, tmp_path / "db")

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("opened")

    monkeypatch.setattr("ingest.plan.open", refuse, raising=False)
    assert run(logs, tmp_path / "db").read == 0


def test_the_order_of_arrival_does_not_matter(logs: Path, tmp_path: Path) -> None:
    run(logs, tmp_path / "at-once")
    for name in reversed(NAMES):
        run(logs / name, tmp_path / "one-by-one")
    files = sorted(path for path in logs.rglob("*") if path.is_file())
    for path in reversed(files):
        run(path, tmp_path / "file-by-file")
    facts = content(tmp_path / "at-once")
    for other in "one-by-one", "file-by-file":
        assert content(tmp_path / other)["findings"] == facts["findings"]
        assert content(tmp_path / other)["Event"] == facts["Event"]


def test_worker_processes_make_the_same_store(logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ingest.groups.GROUP_FILES", 2)
    monkeypatch.setattr("ingest.groups.TRANSACTION_BYTES", 0)
    run(logs, tmp_path / "alone", workers=1)
    run(logs, tmp_path / "together", workers=2)
    assert content(tmp_path / "together") == content(tmp_path / "alone")


def test_small_transactions_make_the_same_store(logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run(logs, tmp_path / "large")
    monkeypatch.setattr("ingest.groups.GROUP_FILES", 1)
    monkeypatch.setattr("ingest.groups.TRANSACTION_BYTES", 0)
    monkeypatch.setattr("ingest.refresh._BATCH_RECORDS", 1)
    monkeypatch.setattr("ingest.reading._PIECE_RECORDS", 3)
    run(logs, tmp_path / "small")
    assert content(tmp_path / "small") == content(tmp_path / "large")


def test_a_changed_file_replaces_what_it_said_before(logs: Path, tmp_path: Path) -> None:
    log = chat_log(logs, "e_normal")
    whole = log.read_bytes()
    lines = whole.splitlines(keepends=True)
    log.write_bytes(b"".join(lines[:4]))
    run(logs, tmp_path / "db")
    assert statuses(tmp_path / "db")[str(log)][1] <= 4
    log.write_bytes(whole)
    summary = run(logs, tmp_path / "db")
    assert (summary.read, summary.sessions_analysed) == (1, 1)
    run(logs, tmp_path / "fresh")
    assert content(tmp_path / "db") == content(tmp_path / "fresh")


def test_a_rewrite_of_the_same_size_is_noticed(logs: Path, tmp_path: Path) -> None:
    log = chat_log(logs, "e_normal")
    run(logs, tmp_path / "db")
    stat = log.stat()
    log.write_bytes(log.read_bytes().replace(b"kimi-k3", b"kimi-k9"))
    os.utime(log, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert log.stat().st_size == stat.st_size
    assert run(logs, tmp_path / "db").read == 1
    assert any("model='kimi-k9'" in row for _, row in content(tmp_path / "db")["Response"])


def test_a_torn_last_line_waits_without_being_a_problem(logs: Path, tmp_path: Path) -> None:
    log = chat_log(logs, "e_normal")
    whole = log.read_bytes()
    last = whole.rstrip(b"\n").rfind(b"\n") + 1
    log.write_bytes(whole[: last + 20])
    summary = run(logs, tmp_path / "db")
    assert summary.problems == 0
    assert query(tmp_path / "db", f"SELECT status, bytes, read_bytes FROM sources WHERE source_path = '{log}'") == [
        ("tail-pending", last + 20, last)
    ]
    log.write_bytes(whole)
    run(logs, tmp_path / "db")
    run(logs, tmp_path / "fresh")
    assert content(tmp_path / "db") == content(tmp_path / "fresh")


def test_a_vanished_file_keeps_its_rows_and_may_come_back(logs: Path, tmp_path: Path) -> None:
    db, log = tmp_path / "db", chat_log(logs, "e_normal")
    run(logs, db)
    before = content(db)
    log.rename(tmp_path / "elsewhere")
    assert run(logs, db).gone == 1
    assert statuses(db)[str(log)] == ("gone", statuses(db)[str(log)][1])
    assert content(db)["findings"] == before["findings"]
    assert content(db)["Response"] == before["Response"]
    assert run(logs, db).gone == 0, "told once"
    (tmp_path / "elsewhere").rename(log)
    assert run(logs, db).read == 1
    assert content(db) == before


def test_a_file_outside_the_folders_of_this_run_is_not_gone(logs: Path, tmp_path: Path) -> None:
    run(logs, tmp_path / "db")
    shutil.rmtree(logs / "e_normal")
    assert run(logs / "l_subagent_replay.acp", tmp_path / "db").gone == 0


def test_a_copy_beside_the_original_changes_no_finding(logs: Path, tmp_path: Path) -> None:
    run(logs, tmp_path / "db")
    before = {row[0]: row[5] for row in content(tmp_path / "db")["findings"]}
    shutil.copytree(logs / "l_subagent_replay.acp", logs / "zz-backup")
    run(logs, tmp_path / "db")
    assert {row[0]: row[5] for row in content(tmp_path / "db")["findings"]} == before


def test_an_unreadable_file_is_told_and_keeps_what_it_said(logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    db, log = tmp_path / "db", chat_log(logs, "e_normal")
    run(logs, db)
    before = content(db)
    log.write_bytes(log.read_bytes() + b"\n")  # changed, so it is looked into
    refuse_to_open(monkeypatch, log)
    for _ in range(2):
        summary = run(logs, db)
        assert [(skipped.path, skipped.reason) for skipped in summary.unreadable] == [(str(log), "Permission denied")]
    assert query(db, "SELECT source_path, kind, detail FROM problems") == [(str(log), "unreadable", "Permission denied")]
    assert statuses(db)[str(log)][0] == "unreadable"
    assert content(db)["Response"] == before["Response"]
    monkeypatch.undo()
    assert run(logs, db).read == 1
    assert query(db, "SELECT count(*) FROM problems") == [(0,)]
    assert statuses(db)[str(log)][0] == "complete"


def refuse_to_open(monkeypatch: pytest.MonkeyPatch, refused: Path) -> None:
    """As file permissions would, if the tests did not run as root."""

    def careful(path: object, *rest: object, **named: object) -> object:
        if str(path) == str(refused):
            raise PermissionError(13, "Permission denied")
        return open(path, *rest, **named)  # type: ignore[call-overload]

    monkeypatch.setattr("ingest.plan.open", careful, raising=False)


def test_files_that_are_no_logs_are_named_only_where_somebody_would_ask(logs: Path, tmp_path: Path) -> None:
    db = tmp_path / "db"
    (logs / "foreign.jsonl").write_text('{"some": "thing else"}\n')
    (logs / "empty.log").write_text("")
    (logs / "notes.txt").write_text("hello")
    for _ in range(2):
        summary = run(logs, db)
        told = {skipped.path: skipped.reason for skipped in summary.skipped}
        assert told[str(logs / "foreign.jsonl")] == "no reader knows its content"
        assert told[str(logs / "empty.log")] == "it is empty"
        assert str(logs / "notes.txt") not in told
    assert statuses(db)[str(logs / "foreign.jsonl")] == ("skipped", 0)
    assert str(logs / "notes.txt") not in statuses(db)
    assert query(db, "SELECT count(*) FROM problems") == [(0,)]
    named = run(logs / "notes.txt", tmp_path / "other")
    assert [skipped.path for skipped in named.skipped] == [str(logs / "notes.txt")]


def test_a_damaged_line_is_a_problem_with_its_place_and_the_rest_is_read(logs: Path, tmp_path: Path) -> None:
    log = chat_log(logs, "e_normal")
    run(logs, tmp_path / "whole")
    lines = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(b"".join([*lines[:2], b'{"broken\n', *lines[2:]]))
    summary = run(logs, tmp_path / "damaged")
    assert summary.problems == 1
    offset = len(b"".join(lines[:2]))
    assert query(tmp_path / "damaged", "SELECT source_path, byte_offset, line FROM problems") == [(str(log), offset, 3)]
    assert len(content(tmp_path / "damaged")["Response"]) == len(content(tmp_path / "whole")["Response"])


def test_another_analysis_version_makes_all_findings_anew(logs: Path, tmp_path: Path) -> None:
    db = tmp_path / "db"
    first = run(logs, db)
    summary = run(logs, db, ToyAnalysis(version=2))
    assert (summary.read, summary.sessions_analysed) == (0, first.sessions_analysed)
    assert {row[0].split(":")[0] for row in content(db)["findings"]} == {"v2"}
    assert query(db, "SELECT * FROM guards") == [("none", "does nothing", "built-in")]


def test_an_analysis_that_fails_costs_its_session_only_and_is_tried_again(logs: Path, tmp_path: Path) -> None:
    db, unlucky = tmp_path / "db", chat_log(logs, "e_normal").stem

    def fail(facts: SessionFacts) -> None:
        if facts.session_id == unlucky:
            raise ValueError("cannot")

    summary = run(logs, db, ToyAnalysis(before_each=fail))
    assert [(failed.path, failed.reason) for failed in summary.failed] == [(unlucky, "ValueError: cannot")]
    assert unlucky not in {row[2] for row in content(db)["findings"]}
    assert run(logs, db).sessions_analysed == 1
    run(logs, tmp_path / "fresh")
    assert content(db) == content(tmp_path / "fresh")


def test_what_is_said_of_a_parent_brings_its_sub_agents_up_to_date(logs: Path, tmp_path: Path) -> None:
    db = tmp_path / "db"
    telemetry = logs / "l_subagent_replay.acp" / "telemetry.log"
    kept = telemetry.rename(tmp_path / "telemetry.log")
    run(logs, db)
    kept.rename(telemetry)
    run(logs, db)
    run(logs, tmp_path / "fresh")
    agents = "SELECT session_id, reason FROM findings WHERE contains(session_id, '/agent-')"
    assert len(query(db, agents)) == 1
    assert query(db, agents) == query(tmp_path / "fresh", agents)
    assert content(db)["findings"] == content(tmp_path / "fresh")["findings"]


@pytest.mark.parametrize("moment", ["analysis", "publishing"])
def test_a_killed_run_is_completed_by_the_next(logs: Path, tmp_path: Path, moment: str) -> None:
    db = tmp_path / "db"
    killed = subprocess.run([sys.executable, "-m", "tests.ingest.toy_run", logs, db, moment])
    assert killed.returncode == -9
    assert not db.exists()
    summary = run(logs, db)
    assert summary.read == 0, "the facts were kept"
    assert summary.published
    run(logs, tmp_path / "fresh")
    assert content(db) == content(tmp_path / "fresh")


def test_a_second_run_beside_one_that_writes_is_refused_and_harms_nothing(
    logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    db = tmp_path / "db"
    run(logs, db)
    before = content(db)
    with WritableStore(db) as store:
        monkeypatch.setattr("ingest.pipeline.WritableStore", partial(WritableStore, wait=0.1))
        with pytest.raises(StoreBusy, match=f"process {os.getpid()}"):
            run(logs, db)
        assert content(db) == before, "and it can be read meanwhile"
        assert not store.publish()


def test_a_label_is_kept_for_every_page_to_show(logs: Path, tmp_path: Path) -> None:
    run(logs, tmp_path / "db", label="Demo")
    assert not run(logs, tmp_path / "db", label="Demo").published
    assert query(tmp_path / "db", "SELECT value FROM store WHERE key = 'label'") == [("Demo",)]


def test_progress_adds_up_to_what_was_announced(logs: Path, tmp_path: Path) -> None:
    class Told:
        def __init__(self) -> None:
            self.stages: list[list[object]] = []

        def stage(self, name: str, total: int, unit: str) -> None:
            self.stages.append([name, total, unit, 0])

        def advance(self, amount: int) -> None:
            done = self.stages[-1][3]
            assert isinstance(done, int)
            self.stages[-1][3] = done + amount

        def say(self, sentence: str) -> None:
            raise AssertionError(sentence)

    told = Told()
    summary = run(logs, tmp_path / "db", report=told)
    size = sum(path.stat().st_size for path in logs.rglob("*") if path.suffix in (".jsonl", ".ndjson", ".log", ".json", ".sse"))
    assert [stage[0] for stage in told.stages] == ["read", "analyse"]
    assert told.stages[0][1] == told.stages[0][3]
    assert told.stages[0][1] == size
    # The sub-agent's: the others are analysed where they are read.
    assert told.stages[1][1] == told.stages[1][3] == 1
    assert summary.sessions_analysed > 1


def test_a_copy_with_a_record_that_says_something_else_is_told(tmp_path: Path) -> None:
    """The longer file counts; where the other one differs is named, and no call is counted twice."""
    original = RECORDINGS / "e_normal"
    shutil.copytree(original, tmp_path / "logs" / "a")
    shutil.copytree(original, tmp_path / "logs" / "b")
    log = next((tmp_path / "logs" / "b").rglob("chats/*.jsonl"))
    lines = log.read_bytes().splitlines(keepends=True)
    assert b"kimi-k3" in lines[-1]
    log.write_bytes(b"".join([*lines[:-1], lines[-1].replace(b"kimi-k3", b"kimi")]))
    with ingest_into(tmp_path / "store.duckdb", tmp_path / "logs") as store:
        told = store.execute("SELECT source_path, line, kind FROM problems").fetchall()
        calls = store.execute("SELECT count(*) FROM calls").fetchall()
    assert told == [(str(log), len(lines), "differing-record")]
    with ingest_into(tmp_path / "alone.duckdb", original) as store:
        assert store.execute("SELECT count(*) FROM calls").fetchall() == calls
