"""Sessions analysed where they are read: only where nothing else is known of them, and with the same findings."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import duckdb
import pytest

from analysis.findings import SessionFindings
from cli.engine import BuiltInAnalysis
from ingest import refresh
from ingest.pipeline import ingest
from ingest.records import SessionFacts
from tests.ingest.readers.reading import line, prompt, response
from tests.ingest.store_content import content, first_difference
from tests.ingest.toy_run import ToyAnalysis, run

RECORDINGS = Path(__file__).parents[2] / "data" / "recordings"


class Counting(ToyAnalysis):
    """Tells which sessions were analysed early, and which in their turn. All could be."""

    def __init__(self) -> None:
        super().__init__()
        self.early: list[str] = []
        self.in_turn: list[str] = []

    def analyse_early(self, facts: SessionFacts) -> SessionFindings:
        self.early.append(facts.session_id)
        return super().analyse(facts)

    def analyse(self, facts: SessionFacts) -> SessionFindings:
        self.in_turn.append(facts.session_id)
        return super().analyse(facts)


class InTurnOnly(BuiltInAnalysis):
    def analyse_early(self, facts: SessionFacts) -> None:
        return None


def write(path: Path, session: str, *records: dict[str, object]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as log:
        log.writelines(line(record | {"sessionId": session}) + b"\n" for record in records)
    return path


def found(tmp_path: Path) -> list[str]:
    with duckdb.connect(tmp_path / "store.duckdb", read_only=True) as store:
        return [reason for (reason,) in store.execute("SELECT reason FROM findings ORDER BY session_id").fetchall()]


def one_group_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ingest.groups.GROUP_FILES", 1)
    monkeypatch.setattr("ingest.groups.TRANSACTION_BYTES", 0)


@pytest.mark.parametrize("files_in_a_group", [1, 7, 2000])
def test_findings_are_the_same_as_without_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files_in_a_group: int) -> None:
    monkeypatch.setattr("ingest.groups.GROUP_FILES", files_in_a_group)
    monkeypatch.setattr("ingest.groups.TRANSACTION_BYTES", 0)
    ingest([RECORDINGS], tmp_path / "early.duckdb", BuiltInAnalysis())
    ingest([RECORDINGS], tmp_path / "in-turn.duckdb", InTurnOnly())
    assert first_difference(content(tmp_path / "early.duckdb"), content(tmp_path / "in-turn.duckdb")) == ""


def test_a_session_of_one_log_is_analysed_once(tmp_path: Path) -> None:
    write(tmp_path / "logs/a.jsonl", "a", prompt("u"), response("v"))
    analysis = Counting()
    assert run(tmp_path / "logs", tmp_path / "store.duckdb", analysis).sessions_analysed == 1
    assert (analysis.early, analysis.in_turn) == (["a"], [])


def test_a_session_of_two_files_read_together_is_analysed_with_both(tmp_path: Path) -> None:
    write(tmp_path / "logs/a.jsonl", "a", prompt("u"), response("v", parentUuid="u"))
    write(tmp_path / "logs/b.jsonl", "a", prompt("w", parentUuid="v"))
    analysis = Counting()
    run(tmp_path / "logs", tmp_path / "store.duckdb", analysis)
    assert (analysis.early, analysis.in_turn) == (["a"], [])
    assert found(tmp_path) == ["3 records, 0 events"]


def test_one_of_two_groups_is_analysed_again_from_the_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one_group_a_file(monkeypatch)
    write(tmp_path / "logs/a.jsonl", "a", prompt("u"), response("v", parentUuid="u"))
    write(tmp_path / "logs/b.jsonl", "a", prompt("w", parentUuid="v"))
    analysis = Counting()
    summary = run(tmp_path / "logs", tmp_path / "store.duckdb", analysis)
    assert (analysis.in_turn, summary.sessions_analysed) == (["a"], 1)
    assert found(tmp_path) == ["3 records, 0 events"]


def test_one_of_two_groups_of_one_transaction_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each group takes what it has for the whole session; beside it one that is whole."""
    monkeypatch.setattr("ingest.groups.GROUP_FILES", 1)
    write(tmp_path / "logs/a.jsonl", "a", prompt("u"), response("v", parentUuid="u"))
    write(tmp_path / "logs/b.jsonl", "a", prompt("w", parentUuid="v"))
    write(tmp_path / "logs/c.jsonl", "c", prompt("x"))
    analysis = Counting()
    run(tmp_path / "logs", tmp_path / "store.duckdb", analysis)
    assert (analysis.early, analysis.in_turn) == (["a", "a", "c"], ["a"])
    assert found(tmp_path) == ["3 records, 0 events", "1 records, 0 events"]


def test_a_file_that_grew_is_not_all_that_there_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only its new part is read, and the new file beside it would make a session of its own."""
    monkeypatch.setattr("ingest.growth.WORTH_MARKING", 1)
    log = write(tmp_path / "logs/a.jsonl", "a", prompt("u"))
    run(tmp_path / "logs", tmp_path / "store.duckdb")
    write(log, "a", response("v", parentUuid="u"))
    write(tmp_path / "logs/b.jsonl", "a", prompt("w", parentUuid="v"))
    analysis = Counting()
    run(tmp_path / "logs", tmp_path / "store.duckdb", analysis)
    assert (analysis.early, analysis.in_turn) == ([], ["a"])
    assert found(tmp_path) == ["3 records, 0 events"]


def test_a_file_that_cannot_be_opened_any_more_still_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = write(tmp_path / "logs/a.jsonl", "a", prompt("u"), response("v", parentUuid="u"))
    run(tmp_path / "logs", tmp_path / "store.duckdb")
    write(log, "a", prompt("x", parentUuid="v"))
    write(tmp_path / "logs/b.jsonl", "a", prompt("w", parentUuid="v"))
    plain_open = open

    def refuse(path: object, *rest: object, **named: object) -> object:
        if str(path) == str(log):
            raise PermissionError(13, "Permission denied")
        return plain_open(path, *rest, **named)  # type: ignore[call-overload]

    monkeypatch.setattr("builtins.open", refuse)
    run(tmp_path / "logs", tmp_path / "store.duckdb")
    monkeypatch.undo()
    assert found(tmp_path) == ["3 records, 0 events"]


def test_of_more_records_than_are_kept_the_session_waits_its_turn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ingest.early.MOST_RECORDS", 3)
    write(tmp_path / "logs/a.jsonl", "a", *(prompt(f"u{number}") for number in range(2)))
    write(tmp_path / "logs/b.jsonl", "b", *(prompt(f"v{number}") for number in range(5)))
    analysis = Counting()
    run(tmp_path / "logs", tmp_path / "store.duckdb", analysis)
    assert (analysis.early, analysis.in_turn) == (["a"], ["b"])


def test_a_changed_log_leaves_nothing_of_what_was_found_before(tmp_path: Path) -> None:
    log = write(tmp_path / "logs/a.jsonl", "a", prompt("u"))
    run(tmp_path / "logs", tmp_path / "store.duckdb")
    log.write_bytes(b"")
    write(log, "a", prompt("u"), prompt("w"))
    run(tmp_path / "logs", tmp_path / "store.duckdb")
    assert found(tmp_path) == ["2 records, 0 events"]


def test_what_fails_early_is_told_in_its_turn(tmp_path: Path) -> None:
    class Failing(Counting):
        def analyse_early(self, facts: SessionFacts) -> SessionFindings:
            raise ValueError("no")

    shutil.copytree(RECORDINGS / "0.24.4" / "e_normal", tmp_path / "logs")
    summary = run(tmp_path / "logs", tmp_path / "store.duckdb", Failing())
    assert (summary.failed, summary.sessions_analysed) == ([], 1)


def test_what_is_read_of_a_parent_reaches_its_sub_agents_however_soon_it_was_analysed(tmp_path: Path) -> None:
    """The sub-agent's files come first; whether its trip was told in telemetry stands in its parent's files."""
    case = RECORDINGS / "0.21.10" / "l_subagent_replay.acp"
    logs = tmp_path / "logs"
    agents = case / "qwen-home/projects/-workspace-demo/subagents"
    shutil.copytree(agents, logs / agents.relative_to(case))
    ingest([logs], tmp_path / "store.duckdb", BuiltInAnalysis())
    shutil.copytree(case, logs, dirs_exist_ok=True)
    ingest([logs], tmp_path / "store.duckdb", BuiltInAnalysis())
    ingest([logs], tmp_path / "cold.duckdb", InTurnOnly())
    with duckdb.connect(tmp_path / "store.duckdb", read_only=True) as store:
        told = store.execute("SELECT telemetry FROM trips WHERE contains(session_id, '/agent-') AND basis = 'observed'")
        assert told.fetchall() == [("matched",)]
    assert first_difference(content(tmp_path / "store.duckdb"), content(tmp_path / "cold.duckdb")) == ""


def test_a_log_that_vanishes_while_it_is_read_keeps_what_it_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = write(tmp_path / "logs/a.jsonl", "a", prompt("u"))
    write(tmp_path / "logs/b.jsonl", "b", prompt("w"))
    run(tmp_path / "logs", tmp_path / "store.duckdb")
    write(log, "a", response("v", parentUuid="u"))
    planned = refresh._recall_marks

    def planned_and_gone(*given: Any) -> None:
        planned(*given)
        log.unlink()

    monkeypatch.setattr(refresh, "_recall_marks", planned_and_gone)
    run(tmp_path / "logs", tmp_path / "store.duckdb")
    monkeypatch.undo()
    for status in "unreadable", "gone":
        with duckdb.connect(tmp_path / "store.duckdb", read_only=True) as store:
            sources = store.execute("SELECT status, records FROM sources ORDER BY source_path").fetchall()
        assert sources == [(status, 1), ("complete", 1)]
        assert found(tmp_path) == ["1 records, 0 events"] * 2
        run(tmp_path / "logs", tmp_path / "store.duckdb")
