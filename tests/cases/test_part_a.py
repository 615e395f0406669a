"""What loopscope says of each case of part A: class by class, decision by decision."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import duckdb
import pytest

from tests.cases.case import Case, Decisions
from tests.cases.part_a import PART_A

NUMBERS = (1, 2, 6, 10, 11, 12, 13, 15, 16, 17, 18, 19, 21, 22, 24, 26, 27, 28, 29, 31, 33)

of_each_case = pytest.mark.parametrize("case", PART_A, ids=lambda case: case.name.replace(" ", "-"))


def _column(store: duckdb.DuckDBPyConnection, column: str, view: str, case: Case, order: str) -> list[Any]:
    query = f"SELECT {column} FROM {view} WHERE session_id = ? ORDER BY {order}"
    return [value for (value,) in store.execute(query, [case.name]).fetchall()]


def _of_calls(store: duckdb.DuckDBPyConnection, column: str, case: Case) -> list[Any]:
    return _column(store, column, "calls", case, "turn_no, response_no, call_no")


def test_every_case_is_here() -> None:
    assert {case.name.split()[0] for case in PART_A} == {f"A{number}" for number in NUMBERS}
    assert len({case.name for case in PART_A}) == len(PART_A)


@of_each_case
def test_classes(case: Case, store: duckdb.DuckDBPyConnection) -> None:
    assert _of_calls(store, "class", case) == list(case.classes)


@of_each_case
def test_what_happened_to_each_call(case: Case, store: duckdb.DuckDBPyConnection) -> None:
    expected = case.outcomes or ("executed",) * len(case.classes)
    assert _of_calls(store, "outcome", case) == list(expected)


@of_each_case
@pytest.mark.parametrize("guard", ["id-breaker", "fingerprint"])
def test_decisions(case: Case, guard: str, store: duckdb.DuckDBPyConnection) -> None:
    rows = store.execute(
        """
        SELECT turn_no || '.' || response_no || '.' || call_no,
               decision || CASE basis WHEN 'observed' THEN '' ELSE ' (' || basis || ')' END
        FROM decisions WHERE session_id = ? AND guard = ?
        """,
        [case.name, guard],
    ).fetchall()
    expected = _expected_decisions(case, guard)
    assert {call: decision for call, decision in rows if decision != "execute"} == expected


@of_each_case
def test_trips(case: Case, store: duckdb.DuckDBPyConnection) -> None:
    """One trip a turn, of the two guards with a breaker and of no other; whatever comes after it is not decided."""
    rows = store.execute(
        "SELECT guard, turn_no, response_no, basis, trip_class FROM trips WHERE session_id = ? AND guard <> 'any-fingerprint'",
        [case.name],
    ).fetchall()
    expected = [
        (guard, *_turn_and_response(call), "counterfactual" if "(" in decision else "observed")
        for guard in ("fingerprint", "id-breaker")
        for call, decision in _expected_decisions(case, guard).items()
        if decision.startswith("trip")
    ]
    assert sorted(row[:4] for row in rows) == sorted(expected)
    assert next((row[4] for row in rows if row[0] == "id-breaker"), None) == case.trip_class
    decided = store.execute(
        """
        SELECT count(*) FROM decisions d JOIN trips t USING (guard, session_id, turn_no)
        WHERE session_id = ? AND d.response_no > t.response_no
        """,
        [case.name],
    ).fetchone()
    assert decided == (0,)


def _expected_decisions(case: Case, guard: str) -> Decisions:
    return case.id_breaker if guard == "id-breaker" else case.fingerprint


def _turn_and_response(call: str) -> tuple[int, int]:
    turn, response, _ = map(int, call.split("."))
    return turn, response


@of_each_case
def test_how_it_ended(case: Case, store: duckdb.DuckDBPyConnection) -> None:
    verdicts = _column(store, "verdict", "turns", case, "turn_no")
    if case.turn_verdicts:
        assert verdicts == list(case.turn_verdicts)
    if case.verdict is not None:
        assert _column(store, "verdict", "sessions", case, "1") == [case.verdict]
    assert _column(store, "guard_in_force", "sessions", case, "1") == [case.guard_in_force]


@of_each_case
def test_only_what_loops_is_called_looping(case: Case, store: duckdb.DuckDBPyConnection) -> None:
    looping = _column(store, "looping", "turns", case, "turn_no")
    assert looping == [None] * (len(looping) - 1) + [case.looping]


@of_each_case
def test_notes_beside_the_class(case: Case, store: duckdb.DuckDBPyConnection) -> None:
    reasons = _of_calls(store, "class_reason", case)
    wrong = {number: reason for number, reason in enumerate(reasons, 1) if not _says(reason, case.notes.get(number))}
    assert wrong == {}, f"to be said: {case.notes}"


def _says(reason: str | None, wanted: Sequence[str] | None) -> bool:
    if wanted is None or reason is None:
        return reason is None and wanted is None
    return all(words in reason for words in wanted)


@of_each_case
def test_classes_by_call_half(case: Case, store: duckdb.DuckDBPyConnection) -> None:
    expected = case.classes_by_call_half or (None,) * len(case.classes)
    assert _of_calls(store, "class_by_call_half", case) == list(expected)


@of_each_case
def test_problems(case: Case, store: duckdb.DuckDBPyConnection) -> None:
    """Damage only: a sound log, however odd its ids, gives no row."""
    source = case.name if case.log.on_disk else "log.jsonl"
    rows = store.execute("SELECT kind, detail FROM problems WHERE contains(source_path, ?)", [source]).fetchall()
    assert [kind for kind, _ in rows] == [kind for kind, _ in case.problems]
    assert all(named in detail for (_, detail), (_, named) in zip(rows, case.problems, strict=True))


@pytest.mark.parametrize("case", [case for case in PART_A if case.tools is not None], ids=lambda case: case.name)
def test_a_nameless_call_is_no_tools(case: Case, store: duckdb.DuckDBPyConnection) -> None:
    assert _of_calls(store, "tool", case) == list(case.tools or ())


@pytest.mark.parametrize("case", [case for case in PART_A if "kinds of synthetic" in case.name], ids=lambda case: case.name)
def test_each_kind_of_synthetic_answer_has_a_label_of_its_own(case: Case, store: duckdb.DuckDBPyConnection) -> None:
    labels = list(zip(_of_calls(store, "outcome", case), _of_calls(store, "error_class", case), strict=True))[1:]
    assert len(set(labels)) == len(labels) == 7, labels


@pytest.mark.parametrize("case", [case for case in PART_A if case.name.startswith("A1 ")], ids=lambda case: case.name)
def test_executions_are_not_occurrences(case: Case, store: duckdb.DuckDBPyConnection) -> None:
    """A1: before the guard every occurrence ran, under it one of three."""
    counted = store.execute(
        "SELECT count(*), count(*) FILTER (outcome = 'executed') FROM calls WHERE session_id = ?", [case.name]
    ).fetchone()
    assert counted == ((100, 100) if case.guard_in_force == "none" else (3, 1))
