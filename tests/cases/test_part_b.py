"""What loopscope says of each case of part B, read through the public views after an ingest of its log."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import duckdb
import pytest

from tests.cases.part_b import PART_B, LoopCase
from tests.support.ingested import ingest_into
from tests.support.log_script import Round
from tests.support.qwen_log import START, qwen_log

NUMBERS = (1, 2, 3, 4, 8, 9, 10, 11, 12, 13, 15, 16)

of_each_case = pytest.mark.parametrize("case", PART_B, ids=lambda case: case.name.replace(" ", "-"))


@pytest.fixture(scope="module")
def ingested(tmp_path_factory: pytest.TempPathFactory) -> Iterator[duckdb.DuckDBPyConnection]:
    folder = tmp_path_factory.mktemp("part-b")
    chats = folder / "projects/-p/chats"
    chats.mkdir(parents=True)
    for case in PART_B:
        (chats / f"{case.name}.jsonl").write_bytes(qwen_log(case.name, case.log))
        (folder / f"{case.name}.telemetry.log").write_text("\n".join(map(_as_outfile, _events(case))), "utf-8")
    with ingest_into(folder / "store.duckdb", folder) as store:
        store.execute("SET VARIABLE as_of = TIMESTAMP '2100-01-01'")
        yield store


def _events(case: LoopCase) -> Iterator[dict[str, Any]]:
    at = START + timedelta(hours=1)
    for told in case.telemetry:
        attributes = {"session.id": case.name, "event.name": told.name, "prompt_id": f"{case.name}########1", **told.attributes}
        yield {
            "resource": {"_rawAttributes": [["service.name", "qwen-code"], ["service.version", case.log.version]]},
            "instrumentationScope": {"name": "qwen-code"},
            "attributes": attributes,
            "_hrTime": [int(at.timestamp()), 0],
            "_body": told.name,
        }


def _as_outfile(event: dict[str, Any]) -> str:
    return json.dumps(event, indent=2)


def _column(store: duckdb.DuckDBPyConnection, column: str, view: str, case: LoopCase, order: str = "ALL") -> list[Any]:
    query = f"SELECT {column} FROM {view} WHERE session_id = ? ORDER BY {order}"
    return [value for (value,) in store.execute(query, [case.name]).fetchall()]


def test_every_case_is_here() -> None:
    assert {case.name.split()[0] for case in PART_B} == {f"B{number}" for number in NUMBERS}
    assert len({case.name for case in PART_B}) == len(PART_B)


@of_each_case
def test_whether_it_loops_and_in_which_way(case: LoopCase, ingested: duckdb.DuckDBPyConnection) -> None:
    assert _column(ingested, "looping", "turns", case) == [case.looping]
    expected = sorted([*case.findings, *([case.looping] if case.looping else [])])
    assert sorted(_column(ingested, "kind", "findings", case)) == expected


@of_each_case
def test_what_its_finding_says(case: LoopCase, ingested: duckdb.DuckDBPyConnection) -> None:
    kind = case.looping or next(iter(case.findings), None)
    rows = ingested.execute(
        "SELECT reason, wasted_calls, evidence FROM findings WHERE session_id = ? AND kind = ?", [case.name, kind]
    ).fetchall()
    assert len(rows) == (kind is not None)
    for reason, wasted_calls, evidence in rows:
        assert all(words in reason for words in case.says), reason
        assert wasted_calls == case.wasted_calls
        assert evidence


@of_each_case
def test_how_it_ended(case: LoopCase, ingested: duckdb.DuckDBPyConnection) -> None:
    assert _column(ingested, "verdict", "turns", case) == [case.verdict]


@of_each_case
def test_every_call_is_a_first_use_and_no_guard_by_ids_does_anything(
    case: LoopCase, ingested: duckdb.DuckDBPyConnection
) -> None:
    scripted = sum(len(step.calls) for step in case.log.steps if isinstance(step, Round))
    classes = _column(ingested, "class", "calls", case)
    assert len(classes) == (scripted if case.calls is None else case.calls)
    assert set(classes) == case.classes
    assert set(_column(ingested, "outcome", "calls", case)) == ({case.outcome} if classes else set())
    decided = ingested.execute(
        "SELECT DISTINCT decision FROM decisions WHERE session_id = ? AND guard <> 'args-dedup'", [case.name]
    ).fetchall()
    assert set(decided) <= {("execute",), ("unknown",)}
    assert _column(ingested, "guard", "trips", case) == []


@of_each_case
def test_loop_events(case: LoopCase, ingested: duckdb.DuckDBPyConnection) -> None:
    rows = ingested.execute("SELECT loop_type, explained_by FROM loop_events WHERE session_id = ?", [case.name]).fetchall()
    assert rows == list(case.loop_events)


@of_each_case
def test_notes_beside_the_class(case: LoopCase, ingested: duckdb.DuckDBPyConnection) -> None:
    reasons = _column(ingested, "class_reason", "calls", case, "turn_no, response_no, call_no")
    noted = {number: reason for number, reason in enumerate(reasons, 1) if reason is not None}
    assert noted.keys() == case.notes.keys()
    assert all(words in noted[number] for number, wanted in case.notes.items() for words in wanted), noted
