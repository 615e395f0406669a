"""A turn that waits is measured against what the tool takes in this corpus, whichever log came in first."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from cli.engine import BuiltInAnalysis
from ingest.pipeline import ingest
from tests.support.ingested import ingest_into

_START = datetime(2026, 11, 1, tzinfo=UTC)


def _log(folder: Path, session: str, records: list[tuple[float, dict[str, Any]]]) -> None:
    """records: (seconds after the start, what the record holds beside the frame)."""
    chats = folder / session / "projects/-p/chats"
    chats.mkdir(parents=True)
    lines = []
    for number, (seconds, held) in enumerate(records):
        at = (_START + timedelta(seconds=seconds)).isoformat().replace("+00:00", "Z")
        parent = f"{session}-{number - 1}" if number else None
        frame = {"uuid": f"{session}-{number}", "parentUuid": parent, "sessionId": session, "timestamp": at}
        lines.append(json.dumps({**frame, "cwd": "/p", "version": "0.24.4", **held}))
    (chats / f"{session}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")


_PROMPT = {"type": "user", "message": {"role": "user", "parts": [{"text": "go"}]}}
_FETCH = {"functionCall": {"id": "call_a", "name": "web_fetch", "args": {"url": "u"}}}
_SNAPSHOT = {"type": "system", "subtype": "file_history_snapshot", "systemPayload": {"snapshots": []}}


def _waiting(folder: Path) -> None:
    """A fetch that has not returned, and twenty minutes later a bookkeeping record."""
    call = {"type": "assistant", "model": "m", "message": {"role": "model", "parts": [_FETCH]}}
    _log(folder, "waiting", [(0, _PROMPT), (1, call), (1201, _SNAPSHOT)])


def _slow_corpus(folder: Path) -> None:
    """Sixty fetches of seven hundred seconds each: 99 of 100 end within 1024 s, and three times that is 51 minutes."""
    told = {"event.name": "qwen-code.tool_call", "function_name": "web_fetch", "duration_ms": 700_000, "status": "success"}
    event = {"type": "system", "subtype": "ui_telemetry", "systemPayload": {"uiEvent": told}}
    answer = {"type": "assistant", "model": "m", "message": {"role": "model", "parts": [{"text": "done"}]}}
    _log(folder, "slow", [(0, _PROMPT), *((float(n), event) for n in range(1, 61)), (61, answer)])


def _verdict(db: Path, *roots: Path) -> str:
    with ingest_into(db, *roots) as store:
        (row,) = store.execute("SELECT verdict FROM turns WHERE session_id = 'waiting'").fetchall()
    return str(row[0])


def test_without_a_corpus_the_default_stands(tmp_path: Path) -> None:
    _waiting(tmp_path / "logs")
    assert _verdict(tmp_path / "store.duckdb", tmp_path / "logs") == "silent-hang"


def test_a_corpus_of_slow_calls_gives_them_time(tmp_path: Path) -> None:
    _waiting(tmp_path / "logs")
    _slow_corpus(tmp_path / "logs")
    assert _verdict(tmp_path / "store.duckdb", tmp_path / "logs") == "truncated"


def test_it_does_not_matter_which_came_first(tmp_path: Path) -> None:
    _waiting(tmp_path / "first")
    _slow_corpus(tmp_path / "second")
    db = tmp_path / "store.duckdb"
    assert _verdict(db, tmp_path / "first") == "silent-hang"
    assert _verdict(db, tmp_path / "first", tmp_path / "second") == "truncated"


def test_what_a_run_that_was_stopped_did_not_learn_the_next_one_does(tmp_path: Path) -> None:
    """Nothing else is left to do for it: the slow sessions were analysed where they were read."""
    _waiting(tmp_path / "first")
    _slow_corpus(tmp_path / "second")
    db = tmp_path / "store.duckdb"
    assert _verdict(db, tmp_path / "first") == "silent-hang"
    ingest([tmp_path / "second"], db, BuiltInAnalysis(), stopped=lambda: True)
    assert _verdict(db, tmp_path / "second") == "truncated"


def test_calls_of_ages_are_no_end_of_a_run(tmp_path: Path) -> None:
    told = {"event.name": "qwen-code.tool_call", "function_name": "web_fetch", "duration_ms": 1e200, "status": "success"}
    event = {"type": "system", "subtype": "ui_telemetry", "systemPayload": {"uiEvent": told}}
    _log(tmp_path / "logs", "ages", [(0, _PROMPT), *((float(n), event) for n in range(1, 61))])
    _waiting(tmp_path / "logs")
    assert _verdict(tmp_path / "store.duckdb", tmp_path / "logs") == "running", "nothing is late then"
