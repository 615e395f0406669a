from __future__ import annotations

import io
from pathlib import Path

import pytest

from tests.cli.conftest import Loopscope


def test_a_query_over_the_views(loopscope: Loopscope, recorded: Path) -> None:
    query = "SELECT outcome, count(*) AS calls FROM calls WHERE class = 'collision' GROUP BY outcome ORDER BY outcome"
    answer = loopscope("sql", query, "--version", "0.24.4", "--format", "json", "--db", recorded)
    assert answer.code == 0
    assert answer.err == ""
    # Under the fingerprint guard a call with other arguments runs; one recording drops fresh siblings of a replay.
    assert {row["outcome"] for row in answer.json()} <= {"executed", "failed", "dropped", "skipped"}
    assert answer.json()


def test_the_filters_hold_for_it(loopscope: Loopscope, recorded: Path) -> None:
    query = "SELECT DISTINCT client_version FROM turns ORDER BY ALL"
    assert len(loopscope("sql", query, "--format=json", "--db", recorded).json()) > 1
    only = loopscope("sql", query, "--version=0.21.10", "--format=json", "--db", recorded)
    assert only.json() == [{"client_version": "0.21.10"}]


def test_a_query_from_stdin(loopscope: Loopscope, recorded: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("SELECT 1 AS one;\n"))
    assert loopscope("sql", "-", "--format=json", "--db", recorded).json() == [{"one": 1}]


@pytest.mark.parametrize("query", ["DESCRIBE calls", "SUMMARIZE turns", "EXPLAIN SELECT 1", "SHOW TABLES", "FROM sessions"])
def test_what_only_reads_is_allowed(query: str, loopscope: Loopscope, recorded: Path) -> None:
    answer = loopscope("sql", query, "--db", recorded)
    assert answer.code == 0
    assert answer.out


@pytest.mark.parametrize(
    ("query", "says"),
    [
        ("SELEC 1", "syntax error"),
        ("SELECT nonsense FROM calls", "nonsense"),
        ("SELECT * FROM nonsense", "nonsense"),
        ("SELECT 1/0::DECIMAL[]", "Error"),
        ("SELECT 1; SELECT 2", "one SELECT"),
        ("", "one SELECT"),
        ("/* nothing */", "one SELECT"),
        ("DROP VIEW turns", "one SELECT"),
        ("SET VARIABLE as_of = now()", "one SELECT"),
        ("CREATE TEMP TABLE t AS SELECT 1", "one SELECT"),
        ("COPY (SELECT 1) TO '/dev/stdout'", "one SELECT"),
        ("ATTACH ':memory:' AS m", "one SELECT"),
        ("INSTALL httpfs", "one SELECT"),
        ("PRAGMA database_list", "one SELECT"),
        ("SELECT * FROM read_text('/etc/hostname')", "disabled"),
        ("SELECT getenv('HOME')", "getenv"),
    ],
)
def test_a_query_that_cannot_be_run_is_one_line_and_wrong_usage(
    query: str, says: str, loopscope: Loopscope, recorded: Path
) -> None:
    answer = loopscope("sql", query, "--db", recorded)
    assert answer.code == 2
    assert answer.out == ""
    assert says in answer.err
    assert "Traceback" not in answer.err
    assert len([line for line in answer.err.splitlines() if not line.startswith(("Usage:", "Try "))]) <= 2


def test_a_query_without_rows_says_so_on_stderr(loopscope: Loopscope, recorded: Path) -> None:
    answer = loopscope("sql", "SELECT session_id FROM sessions WHERE false", "--format=csv", "--db", recorded)
    assert (answer.code, answer.out) == (0, "session_id\n")
    assert "no row" in answer.err
    filtered = ("sql", "SELECT session_id FROM sessions WHERE false", "--format=csv", "--db", recorded)
    assert loopscope(*filtered, "--version=0.24").code == 0
    nothing = loopscope(*filtered, "--version=9.9")
    assert (nothing.code, nothing.out) == (3, "session_id\n")
    assert "Nothing passes --version" in nothing.err
    counted = loopscope("sql", "SELECT count(*) AS n FROM sessions", "--format=json", "--version=9.9", "--db", recorded)
    assert (counted.code, counted.json()) == (0, [{"n": 0}]), "a number is an answer"


def test_a_query_that_takes_too_long(loopscope: Loopscope, recorded: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOOPSCOPE_SQL_TIMEOUT_SECONDS", "0.2")
    answer = loopscope(
        "sql", "SELECT count(*) FROM range(100000000) a, range(100000000) b WHERE a.range + b.range < 0", "--db", recorded
    )
    assert answer.code == 4
    assert "0.2 seconds" in answer.err
    assert answer.out == ""


def test_a_query_that_takes_too_much_memory(loopscope: Loopscope, recorded: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOOPSCOPE_SQL_MEMORY_LIMIT", "64MB")
    answer = loopscope("sql", "SELECT list(range) FROM range(20000000)", "--db", recorded)
    assert (answer.code, answer.out) == (4, "")
    assert "sql_memory_limit allows (64MB)" in answer.err
    assert len(answer.err.splitlines()) == 1
