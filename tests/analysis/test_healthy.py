"""No finding where all is well: a thousand made sessions, and every recording that ended well and was not built to loop."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from analysis.analyse import analyse
from analysis.fingerprint import fingerprint
from ingest.readers.qwen_chat import QwenChatReader
from ingest.records import CardEvent, Problem, SessionFacts
from tests.support.healthy import healthy_log
from tests.support.ingested import ingest_into
from tests.support.log_script import Round
from tests.support.qwen_log import qwen_log

DATA = Path(__file__).parents[2] / "data"
REPEATS_AN_ID, BUILT_TO_LOOP = "abfhjkl", "i"
CHUNKS = 10
PER_CHUNK = 100


def _facts(session_id: str, log: bytes) -> SessionFacts:
    reader = QwenChatReader(f"/logs/{session_id}.jsonl", fingerprint)
    rows = [*reader.feed(log), *reader.finish()]
    assert [row for row in rows if isinstance(row, Problem)] == []
    records = tuple(row for row in rows if not isinstance(row, CardEvent | Problem))
    return SessionFacts(
        session_id=session_id, kind="main", parent_session_id=None, client="qwen-code", records=records, events=()
    )


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_a_thousand_healthy_sessions_have_no_finding(chunk: int) -> None:
    for seed in range(chunk * PER_CHUNK, (chunk + 1) * PER_CHUNK):
        found = analyse(_facts(f"healthy-{seed}", qwen_log(f"healthy-{seed}", healthy_log(seed))))
        assert [(row.kind, row.reason) for row in found.findings] == [], seed
        assert {turn.verdict for turn in found.turns} == {"completed"}, seed
        assert {turn.looping for turn in found.turns} == {None}, seed


def test_the_healthy_sessions_are_no_small_ones() -> None:
    rounds = [sum(isinstance(step, Round) for step in healthy_log(seed).steps) for seed in range(CHUNKS * PER_CHUNK)]
    assert sum(rounds) > 50_000
    assert max(rounds) > 250


def test_a_seed_makes_one_log() -> None:
    assert healthy_log(7) == healthy_log(7) != healthy_log(8)


def _should_be_healthy(name: str, recording: dict[str, Any]) -> bool:
    """It ended well, and its scenario neither repeats an id nor was built to loop (its letter tells)."""
    scenario = name.partition("/")[2]
    ended_well = all(turn["verdict"] == "completed" for turn in recording["turns"])
    return ended_well and scenario[0] not in REPEATS_AN_ID and scenario[0] != BUILT_TO_LOOP


def test_recordings_that_ended_well_have_no_finding(tmp_path: Path) -> None:
    recordings = json.loads((DATA / "expected.json").read_text("utf-8"))["recordings"]
    healthy = [name for name, recording in recordings.items() if _should_be_healthy(name, recording)]
    assert len(healthy) >= 5
    with ingest_into(tmp_path / "store.duckdb", *(DATA / "recordings" / name for name in healthy)) as store:
        store.execute("SET VARIABLE as_of = TIMESTAMP '2100-01-01'")
        assert store.execute("SELECT kind, reason, evidence FROM findings").fetchall() == []
        assert len(store.execute("SELECT * FROM calls").fetchall()) > 20
