"""What a run looks at, what it says, and which sessions it analyses again when logs grow."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

import ingest.plan
from ingest.readers.base import Reader
from ingest.readers.qwen_chat import QwenChatReader
from ingest.readers.qwen_telemetry import QwenTelemetryReader
from ingest.records import SessionFacts
from ingest.workers import Workers
from tests.ingest.readers.reading import line, prompt, response
from tests.ingest.test_pipeline import query
from tests.ingest.toy_run import ToyAnalysis, content, run

RECORDINGS = Path(__file__).parents[2] / "data" / "recordings" / "0.24.4"


class Said:
    def __init__(self) -> None:
        self.sentences: list[str] = []

    def stage(self, name: str, total: int, unit: str) -> None:
        pass

    def advance(self, amount: int) -> None:
        pass

    def say(self, sentence: str) -> None:
        self.sentences.append(sentence)


class Watched(ToyAnalysis):
    """Remembers which sessions it was given."""

    def __init__(self) -> None:
        super().__init__(before_each=lambda facts: self.seen.append(facts.session_id))
        self.seen: list[str] = []


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    for name in ("b_true_replay", "e_normal"):
        shutil.copytree(RECORDINGS / name, tmp_path / "logs" / name)
    return tmp_path / "logs"


@pytest.fixture
def marked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ingest.growth.WORTH_MARKING", 1)


def of_session(name: str, *records: dict[str, object]) -> bytes:
    return b"".join(line(record | {"sessionId": name}) + b"\n" for record in records)


def test_ten_thousand_unchanged_files_cost_a_look_at_each_and_nothing_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = of_session("s", prompt("u"))
    for number in range(10_000):
        folder = tmp_path / "logs" / str(number // 500)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{number}.jsonl").write_bytes(content)
    db = tmp_path / "store.duckdb"
    assert run(tmp_path / "logs", db).read == 10_000
    opened: list[str] = []

    def watched(path: str, flags: int, *rest: int, **named: int) -> int:
        opened.append(os.fspath(path))
        return plain(path, flags, *rest, **named)

    plain = os.open
    monkeypatch.setattr("builtins.open", lambda path, *_, **__: opened.append(os.fspath(path)))
    monkeypatch.setattr("os.open", watched)
    again = run(tmp_path / "logs", db, workers=1)
    assert (again.read, again.unchanged, again.published) == (0, 10_000, False)
    assert [path for path in opened if "/logs/" in path] == []


def test_nothing_new_starts_no_process(logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    db = tmp_path / "store.duckdb"
    run(logs, db, workers=2)

    def start(self: Workers) -> None:
        assert not self.are_processes

    monkeypatch.setattr(Workers, "start", start)
    assert run(logs, db, workers=2).read == 0


def test_what_was_appended_concerns_its_own_sessions_only(tmp_path: Path, marked: None) -> None:
    """One telemetry file holds the events of all sessions: each of its lines must not bring them all up again."""
    log = tmp_path / "logs" / "all.jsonl"
    log.parent.mkdir()
    log.write_bytes(b"".join(of_session(f"s{number}", prompt(f"u{number}")) for number in range(5)))
    db = tmp_path / "store.duckdb"
    run(tmp_path / "logs", db)
    with log.open("ab") as growing:
        growing.write(of_session("s3", response("v3")))
    analysis = Watched()
    summary = run(tmp_path / "logs", db, analysis)
    assert analysis.seen == ["s3"]
    assert (summary.records, summary.bytes_read) == (1, len(of_session("s3", response("v3"))))


def test_the_longer_of_two_copies_may_become_the_other(tmp_path: Path, marked: None) -> None:
    """Which copy's line is shown as proof hangs on their order, and that on their lengths, whatever they grew by."""
    logs, db = tmp_path / "logs", tmp_path / "store.duckdb"
    logs.mkdir()
    (logs / "a.jsonl").write_bytes(of_session("s", prompt("u")))
    (logs / "b.jsonl").write_bytes(of_session("s", prompt("u")) + of_session("t", prompt("v", "longer than a")))
    run(logs, db)
    proof = "SELECT evidence FROM findings WHERE session_id = 's'"
    assert query(db, proof) == [([f"{logs}/b.jsonl:1"],)]
    with (logs / "a.jsonl").open("ab") as growing:
        growing.write(of_session("r", *(prompt(f"w{number}") for number in range(5))))
    run(logs, db)
    run(logs, tmp_path / "fresh.duckdb")
    assert query(db, proof) == [([f"{logs}/a.jsonl:1"],)]
    assert content(db) == content(tmp_path / "fresh.duckdb")


@pytest.mark.parametrize("reader", [QwenChatReader, QwenTelemetryReader])
def test_a_later_reader_reads_its_own_files_again_and_says_so(
    reader: type[Reader], logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    db = tmp_path / "store.duckdb"
    run(logs, db)
    before = content(db)
    concerned = query(db, f"SELECT count(*) FROM sources WHERE format = '{reader.format}'")[0][0]
    assert concerned
    later = reader.version + 1
    monkeypatch.setattr(reader, "version", later)
    monkeypatch.setitem(ingest.plan._READER_VERSIONS, reader.format, later)
    said = Said()
    assert run(logs, db, report=said).read == concerned
    assert said.sentences == [f"{concerned} files are read again: this program reads more out of them than the one before."]
    assert content(db) == before
    assert run(logs, db, report=said).read == 0


def test_a_later_analysis_analyses_again_and_says_so(logs: Path, tmp_path: Path) -> None:
    db, said = tmp_path / "store.duckdb", Said()
    first = run(logs, db, report=said)
    assert said.sentences == []
    again = run(logs, db, ToyAnalysis(version=2), report=said)
    assert (again.read, again.sessions_analysed) == (0, first.sessions_analysed)
    assert said.sentences == ["All sessions are analysed again: version 2 of the analysis finds other things than version 1."]


def test_readers_keep_the_old_findings_until_all_new_ones_are_there(
    logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ingest.refresh._BATCH_RECORDS", 1)
    monkeypatch.setattr("ingest.store.writable.WritableStore.seconds_until_publishing", lambda self: 0.0)
    db = tmp_path / "store.duckdb"
    run(logs, db)
    seen: list[int] = []

    def look(facts: SessionFacts) -> None:
        seen.append(len(query(db, "SELECT * FROM findings WHERE finding_id LIKE 'v1:%'")))

    run(logs, db, ToyAnalysis(version=2, before_each=look))
    assert len(seen) > 1
    assert set(seen) == {len(seen)}


def test_a_stop_leaves_the_rest_to_the_next_run(logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ingest.groups.GROUP_FILES", 1)
    monkeypatch.setattr("ingest.groups.TRANSACTION_BYTES", 0)
    db = tmp_path / "store.duckdb"
    asked: list[bool] = []

    def stopped() -> bool:
        asked.append(True)
        return len(asked) >= 3

    first = run(logs, db, stopped=stopped)
    assert (first.read, first.stopped, first.published) == (3, True, True)
    rest = run(logs, db)
    assert not rest.stopped
    assert rest.unchanged == 3
    run(logs, tmp_path / "fresh.duckdb")
    assert content(db) == content(tmp_path / "fresh.duckdb")
