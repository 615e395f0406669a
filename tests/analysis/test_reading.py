"""One store, opened with each filter, as the sandbox that it has to be, and when there is something wrong with it."""

from __future__ import annotations

import os
from contextlib import closing
from datetime import UTC, datetime, timedelta
from importlib import resources
from pathlib import Path

import duckdb
import pytest

from analysis import reading
from analysis.reading import SCHEMA, Filters, open_store
from ingest.errors import ForeignFile, NoStore, StoreDamaged, StoreTooNew
from ingest.store.findings import renew_findings
from ingest.store.info import write_info
from ingest.store.writable import WritableStore
from tests.support.found_rows import NOON, publish, session

KIMI, QWEN, SUB, OLD = "aaaa-kimi", "bbbb-qwen", "aaaa-kimi/agent-x", "aaaa-old"
ALL = {(KIMI, 1), (KIMI, 2), (QWEN, 1), (SUB, 1), (OLD, 1)}

OF_TURNS = ("turns", "responses", "calls", "decisions", "divergences", "trips", "findings", "loop_events")


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Turns: KIMI at 12:00 by kimi-k3 and at 13:00 by glm; QWEN and SUB at 15:00; OLD two days before."""
    return publish(
        tmp_path_factory.mktemp("it's a folder") / "store.duckdb",
        session(KIMI, models=("kimi-k3", "glm")),
        session(QWEN, models=("qwen3-coder",), start=NOON + timedelta(hours=3), client="other", cwd="/code/shop/api"),
        session(SUB, start=NOON + timedelta(hours=3), parent=KIMI),
        session(OLD, version="0.21.10", start=NOON - timedelta(days=2), cwd="C:\\work\\shop", models=("GLM",)),
    )


def at(hour: int, minute: int = 0) -> datetime:
    return NOON.replace(hour=hour, minute=minute)


FILTERED = [
    (Filters(), ALL),
    (Filters(model="kimi-k3"), {(KIMI, 1), (SUB, 1)}),
    (Filters(model="glm"), {(KIMI, 2), (OLD, 1)}),
    (Filters(model="kimi"), set()),
    (Filters(client="Other"), {(QWEN, 1)}),
    (Filters(version="0.24"), ALL - {(OLD, 1)}),
    (Filters(version="0.24.4"), ALL - {(OLD, 1)}),
    (Filters(version="0.2"), set()),
    (Filters(project="/code/shop"), ALL - {(OLD, 1)}),
    (Filters(project="/code/shop/"), ALL - {(OLD, 1)}),
    (Filters(project="/code/sho"), set()),
    (Filters(project="api"), {(QWEN, 1)}),
    (Filters(project="shop"), {(KIMI, 1), (KIMI, 2), (SUB, 1), (OLD, 1)}),
    (Filters(session=KIMI), {(KIMI, 1), (KIMI, 2), (SUB, 1)}),
    (Filters(session=SUB), {(SUB, 1)}),
    (Filters(session="aaaa"), ALL - {(QWEN, 1)}),
    (Filters(session="aaaa' OR true --"), set()),
    (Filters(since=at(13)), {(KIMI, 2), (QWEN, 1), (SUB, 1)}),
    # It began before and went on until 12:10.
    (Filters(since=at(12, 5)), ALL - {(OLD, 1)}),
    (Filters(until=at(13)), {(KIMI, 1), (OLD, 1)}),
    (Filters(until=at(13, 1)), {(KIMI, 1), (KIMI, 2), (OLD, 1)}),
    (Filters(since=at(13), until=at(14)), {(KIMI, 2)}),
    (Filters(since=at(15).astimezone(tz=None)), {(QWEN, 1), (SUB, 1)}),
    (Filters(model="glm", version="0.21.10"), {(OLD, 1)}),
]


@pytest.mark.parametrize(
    ("filters", "expected"), FILTERED, ids=lambda value: repr(sorted(value) if isinstance(value, set) else value)[:60]
)
def test_every_view_shows_the_chosen_turns_and_no_other(db: Path, filters: Filters, expected: set[tuple[str, int]]) -> None:
    sessions = {session_id for session_id, _ in expected}
    with closing(open_store(db, filters)) as con:
        for view in OF_TURNS:
            shown = con.execute(f"SELECT session_id, turn_no FROM {view}").fetchall()
            assert {row for row in shown if row[1] is not None} == expected, view
        for view in ("findings", "loop_events"):
            without = con.execute(f"SELECT session_id FROM {view} WHERE turn_no IS NULL").fetchall()
            assert {session_id for (session_id,) in without} == sessions, view
        for view in ("sessions", "dead_calls"):
            assert {row[0] for row in con.execute(f"SELECT session_id FROM {view}").fetchall()} == sessions, view


def test_a_sessions_counts_are_those_of_its_chosen_turns(db: Path) -> None:
    with closing(open_store(db, Filters(model="glm"))) as con:
        rows = con.execute("SELECT turns, calls, models FROM sessions WHERE session_id = ?", [KIMI]).fetchall()
    assert rows == [(1, 1, ["glm"])]


def test_a_turn_is_chosen_by_the_model_of_any_of_its_responses(tmp_path: Path) -> None:
    found = session("s", models=("first",))
    found.responses[0].model = "second"
    path = publish(tmp_path / "store.duckdb", found)
    with closing(open_store(path, Filters(model="second"))) as con:
        assert con.execute("SELECT count(*) FROM turns").fetchall() == [(1,)]


def test_without_a_filter_nothing_is_shadowed(db: Path) -> None:
    with closing(open_store(db)) as con:
        assert con.execute("SELECT count(*) FROM duckdb_views() WHERE temporary AND NOT internal").fetchall() == [(0,)]


def test_a_turn_that_ends_in_the_middle_runs_while_it_is_fresh(tmp_path: Path) -> None:
    path = publish(tmp_path / "store.duckdb", session("s", verdict="truncated", open_ended=True))
    ended = NOON + timedelta(minutes=10)
    verdicts = []
    for as_of, minutes in ((9, 10), (11, 10), (11, 12)):
        clock = ended + timedelta(minutes=as_of)
        with closing(open_store(path, as_of=clock, running_for=timedelta(minutes=minutes))) as con:
            verdicts += con.execute("SELECT verdict FROM sessions").fetchall()
    assert verdicts == [("running",), ("truncated",), ("running",)]


FORBIDDEN = [
    "SELECT * FROM read_text('{secret}')",
    "SELECT * FROM read_blob('{secret}')",
    "SELECT * FROM read_csv('{secret}')",
    "SELECT * FROM '{secret}'",
    "SELECT * FROM glob('{folder}/*')",
    "SELECT * FROM sniff_csv('{secret}')",
    "SELECT * FROM read_blob('{db}')",
    "COPY (SELECT 1) TO '{folder}/written.csv'",
    "COPY (SELECT 1) TO '{db}'",
    "EXPLAIN ANALYZE COPY (SELECT 1) TO '{folder}/written.csv'",
    "EXPORT DATABASE '{folder}/written'",
    "IMPORT DATABASE '{folder}'",
    "ATTACH '{folder}/written.duckdb'",
    "ATTACH '{db}' AS again",
    "INSTALL httpfs",
    "LOAD httpfs",
    "LOAD '{folder}/some.duckdb_extension'",
    "SELECT * FROM read_csv('https://localhost:1/x.csv')",
    "SET enable_external_access = true",
    "SET memory_limit = '100GB'",
    "SET temp_directory = '{folder}'",
    "SET lock_configuration = false",
    "RESET disabled_filesystems",
    "PRAGMA enable_profiling = 'json'",
    "CREATE TABLE loopscope.main.mine (a INTEGER)",
    "DELETE FROM loopscope.main.found_turns",
    "DROP VIEW loopscope.main.turns",
    "CREATE PERSISTENT SECRET s (TYPE s3)",
]


@pytest.mark.parametrize("statement", FORBIDDEN)
def test_nothing_gets_out_of_the_sandbox(statement: str, tmp_path: Path) -> None:
    path = publish(tmp_path / "store.duckdb", session("s"))
    secret = tmp_path / "secret.txt"
    secret.write_text("not for queries")
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    with closing(open_store(path)) as con, pytest.raises(duckdb.Error):
        con.execute(statement.format(secret=secret, folder=tmp_path, db=path)).fetchall()
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before


def test_no_store(tmp_path: Path) -> None:
    with pytest.raises(NoStore, match="loopscope ingest"):
        open_store(tmp_path / "none.duckdb")
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_no_store(tmp_path: Path) -> None:
    path = tmp_path / "store.duckdb"
    path.write_bytes(b"not a database " * 1000)
    with pytest.raises(StoreDamaged, match="cannot be read as a store"):
        open_store(path)


def test_a_database_of_something_else(tmp_path: Path) -> None:
    path = tmp_path / "store.duckdb"
    duckdb.connect(path).close()
    with pytest.raises(ForeignFile, match="none of loopscope's"):
        open_store(path)


def test_a_folder(tmp_path: Path) -> None:
    with pytest.raises(StoreDamaged):
        open_store(tmp_path)


def test_a_store_of_a_later_schema(tmp_path: Path) -> None:
    path = publish(tmp_path / "store.duckdb", session("s"))
    with duckdb.connect(path) as con:
        con.execute("UPDATE store_info SET value = ? WHERE key = 'schema'", [str(SCHEMA + 1)])
    with pytest.raises(StoreTooNew, match=f"schema {SCHEMA + 1}"):
        open_store(path)


def test_the_queries_know_the_newest_schema() -> None:
    steps = resources.files("ingest.store").joinpath("migrations").iterdir()
    assert max(int(step.name.split("_")[0]) for step in steps if step.name.endswith(".sql")) == SCHEMA


def test_a_query_that_takes_too_much_memory_ends_and_spills_nothing(db: Path) -> None:
    with closing(open_store(db, memory_limit="20MB")) as con, pytest.raises(duckdb.OutOfMemoryException):
        con.execute("SELECT list(range) FROM range(20000000)").fetchall()


def test_times_are_utc_wherever_the_machine_stands(db: Path) -> None:
    with closing(open_store(db, Filters(session=QWEN))) as con:
        rows = con.execute("SELECT started_at, started_at::TIMESTAMPTZ = TIMESTAMPTZ '2026-11-30 15:00:00Z' FROM turns")
        assert rows.fetchall() == [(datetime(2026, 11, 30, 15), True)]
    assert at(15).tzinfo is UTC


def test_a_store_that_is_replaced_while_it_is_opened_is_opened_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """DuckDB opens a file twice, and in between the writer may publish: what was opened then is given up."""
    db, next_copy = tmp_path / "store.duckdb", tmp_path / "next.duckdb"
    for path, label in (db, "old"), (next_copy, "new"):
        with WritableStore(path) as store:
            renew_findings(store, 1, [("none", "does nothing", "built-in")])
            with store.change() as con:
                write_info(con, "label", label)
            store.publish()
    plain = reading._attach_as_it_is
    opened: list[Path] = []

    def replaced_meanwhile(con: duckdb.DuckDBPyConnection, path: Path) -> None:
        plain(con, path)
        opened.append(path)
        if len(opened) == 1:
            os.replace(next_copy, path)

    monkeypatch.setattr(reading, "_attach_as_it_is", replaced_meanwhile)
    with closing(open_store(db)) as con:
        assert con.execute("SELECT value FROM store WHERE key = 'label'").fetchall() == [("new",)]
    assert len(opened) == 2
