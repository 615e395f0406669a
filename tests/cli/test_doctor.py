from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import RECORDINGS, Loopscope


def test_what_was_read_and_what_is_missing(
    loopscope: Loopscope, recorded: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    answer = loopscope("doctor", "--format=json", "--db", recorded)
    assert answer.code == 0
    rows = {(row["subject"], row["name"]): row for row in answer.json()}
    assert rows["store", str(recorded)]["state"] == "ok"
    assert rows["store", "schema"]["state"] == "6"
    assert rows["ingested", str(RECORDINGS)]["state"] == "there"
    query = "SELECT count(*) AS files, sum(records) AS records FROM sources WHERE format = 'qwen-chat'"
    (counted,) = loopscope("sql", query, "--format=json", "--db", recorded).json()
    chats = rows["format", "qwen-chat"]
    assert (chats["files"], chats["records"]) == (counted["files"], counted["records"])
    logs = [path for path in RECORDINGS.rglob("*.jsonl") if path.parent.name in ("chats",) or "subagents" in path.parts]
    assert chats["files"] == len([log for log in logs if not log.name.endswith(".ledger.jsonl")])
    assert rows["looked in", str(tmp_path / ".qwen")]["state"] == "missing"
    assert loopscope("doctor", "--db", recorded).out.count("\n") == len(rows) + 2


def test_a_format_that_gave_nothing_says_what_cannot_be_told(loopscope: Loopscope, tmp_path: Path) -> None:
    db = tmp_path / "store.duckdb"
    loopscope("ingest", RECORDINGS / "0.24.4" / "e_normal" / "qwen-home", "--db", db)
    rows = {row["name"]: row for row in loopscope("doctor", "--format=json", "--db", db).json() if row["subject"] == "format"}
    assert rows["qwen-chat"]["state"] == "read"
    assert rows["qwen-telemetry"]["state"] == "missing"
    assert "trips cannot be reconciled" in rows["qwen-telemetry"]["detail"]


def test_without_a_store_it_still_says_what_is_there(loopscope: Loopscope, tmp_path: Path) -> None:
    answer = loopscope("doctor", "--format=json", "--db", tmp_path / "none.duckdb")
    assert answer.code == 3
    rows = {row["subject"]: row for row in answer.json()}
    assert rows["store"]["state"] == "missing"
    assert "loopscope ingest" in rows["store"]["detail"]
    assert "looked in" in rows
