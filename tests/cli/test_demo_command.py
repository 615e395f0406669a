from __future__ import annotations

from pathlib import Path

from cli.demo import LABEL
from tests.cli.conftest import Loopscope


def test_the_demo_has_a_store_of_its_own_and_says_what_it_is(loopscope: Loopscope, tmp_path: Path) -> None:
    answer = loopscope("demo", "--no-serve", "--folder", tmp_path)
    assert answer.code == 0
    assert answer.out == ""
    assert LABEL in answer.err
    db = tmp_path / "demo.duckdb"
    assert f"loopscope triage --db {db}" in answer.err
    labels = loopscope("sql", "SELECT value FROM store WHERE key = 'label'", "--format=json", "--db", db)
    assert labels.json() == [{"value": LABEL}]
    days = loopscope("sql", "SELECT count(DISTINCT started_at::DATE) AS days FROM sessions", "--format=json", "--db", db)
    assert days.json() == [{"days": 30}]
