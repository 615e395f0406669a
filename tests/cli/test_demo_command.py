from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from cli.demo import LABEL, build_demo
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


def test_logs_that_are_not_the_demos_are_left_alone(loopscope: Loopscope, tmp_path: Path) -> None:
    own = tmp_path / "logs" / "own.log"
    own.parent.mkdir()
    own.write_text("mine")
    answer = loopscope("demo", "--no-serve", "--folder", tmp_path)
    assert answer.code == 2
    assert f"{own.parent} is there already and is not of a demo" in answer.err
    assert own.read_text() == "mine"


def test_logs_that_were_left_half_made_are_made_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stops(*_: object) -> Iterator[tuple[str, bytes]]:
        yield "2026-11-01/half.jsonl", b""
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("cli.demo.month", stops)
        with pytest.raises(KeyboardInterrupt):
            build_demo(tmp_path)
    assert (tmp_path / "logs/2026-11-01/half.jsonl").exists()
    assert build_demo(tmp_path) == tmp_path / "logs"
    assert not (tmp_path / "logs/2026-11-01/half.jsonl").exists()
    assert len(list((tmp_path / "logs").iterdir())) == 30
