"""What a query may take, its answer included: seconds, memory, lines of a table."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import pytest

from analysis.reading import open_store
from cli import bounded_table
from cli.bounded_query import BoundedQuery, QueryTimedOut
from cli.bounded_table import BoundedTable
from cli.settings import bytes_of
from tests.cli.conftest import Loopscope
from tests.support.found_rows import publish

ENDLESS = "SELECT range, 'a' || range AS a FROM range(1000000000000)"


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return publish(tmp_path_factory.mktemp("bounds") / "store.duckdb")


class Ended(NamedTuple):
    code: int
    megabytes: int
    out: bytes
    err: str


def process(db: Path, query: str, form: str, out: Path, **environment: str) -> Ended:
    """Its own peak of memory, which the tests' process would hide."""
    command = [sys.executable, "-c", "from cli.main import main; main()", "sql", query, f"--format={form}", "--db", str(db)]
    with out.open("wb") as written, (out.parent / "err").open("wb") as told:
        child = subprocess.Popen(command, stdout=written, stderr=told, env={**os.environ, **environment})
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    return Ended(child.returncode, used.ru_maxrss // 1024, out.read_bytes(), (out.parent / "err").read_text())


@pytest.mark.parametrize("form", ["csv", "json"])
def test_a_long_answer_is_written_as_it_comes(form: str, db: Path, tmp_path: Path) -> None:
    rows = 400_000
    small = process(db, "SELECT range, 'a' || range AS a FROM range(1)", form, tmp_path / "small")
    large = process(db, f"SELECT range, 'a' || range AS a FROM range({rows})", form, tmp_path / "large")
    assert (small.code, large.code) == (0, 0)
    if form == "csv":
        lines = large.out.splitlines()
        assert (lines[0], lines[1], lines[-1], len(lines)) == (b"range,a", b"0,a0", b"399999,a399999", rows + 1)
    else:
        assert json.loads(large.out) == [{"range": number, "a": f"a{number}"} for number in range(rows)]
    # As Python objects the rows are some 80 MB.
    assert large.megabytes - small.megabytes < 40


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells the size of the address space")
def test_wide_values_are_bounded_too(db: Path, tmp_path: Path) -> None:
    """Thirty of 100 MB are three gigabytes that DuckDB's own limit does not count."""
    query = "SELECT repeat('x', 100000000) AS wide FROM range(30)"
    answer = process(db, query, "csv", tmp_path / "out", LOOPSCOPE_SQL_MEMORY_LIMIT="100MB")
    assert (answer.code, answer.out) == (4, b"")
    assert "sql_memory_limit" in answer.err
    assert "100MB" in answer.err
    assert len(answer.err.splitlines()) == 1
    assert answer.megabytes < 800


@pytest.mark.parametrize("form", ["csv", "json"])
def test_the_time_limit_covers_the_answer(form: str, loopscope: Loopscope, db: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOOPSCOPE_SQL_TIMEOUT_SECONDS", "0.5")
    started = time.monotonic()
    answer = loopscope("sql", ENDLESS, f"--format={form}", "--db", db)
    assert time.monotonic() - started < 20
    assert answer.code == 4
    assert "0.5 seconds" in answer.err
    assert answer.out.startswith({"csv": "range,a\n0,a0\n", "json": '[\n{"range": 0, "a": "a0"},\n'}[form])
    if form == "json":
        with pytest.raises(json.JSONDecodeError):
            answer.json()
    assert not any(isinstance(thread, threading.Timer) and thread.is_alive() for thread in threading.enumerate())


def test_waiting_for_a_reader_is_not_counted(db: Path) -> None:
    with closing(open_store(db)) as con:
        query = BoundedQuery(con, 1.0, "1GB")
        steps = 0
        for _ in query.within_limits(query.pieces("SELECT * FROM range(5000)")):
            steps += 1
            time.sleep(0.4)
    assert (steps, query.fetched) == (5, 5000)


def test_making_the_answer_is_counted(db: Path) -> None:
    with closing(open_store(db)) as con:
        query = BoundedQuery(con, 0.2, "1GB")
        pieces = query.pieces("SELECT * FROM range(10)")

        def slowly() -> Iterator[int]:
            for piece in pieces:
                time.sleep(0.25)
                yield len(piece)

        with pytest.raises(QueryTimedOut, match=r"0\.2 seconds"):
            next(query.within_limits(slowly()))


def test_a_query_that_goes_on_for_seconds_writes_nothing_but_its_answer(db: Path, tmp_path: Path) -> None:
    """DuckDB would draw a bar on stdout after two of them."""
    query = "SELECT count(*) FROM range(100000000) a, range(100000000) b WHERE a.range + b.range < 0"
    answer = process(db, query, "csv", tmp_path / "out", LOOPSCOPE_SQL_TIMEOUT_SECONDS="4")
    assert (answer.code, answer.out) == (4, b"")
    assert answer.err == "loopscope: The query was stopped after 4 seconds. Narrow it, or raise sql_timeout_seconds.\n"


def test_a_table_says_what_it_leaves_out(loopscope: Loopscope, db: Path) -> None:
    answer = loopscope("sql", ENDLESS, "--db", db)
    assert (answer.code, answer.err) == (0, "")
    *_, last_row, note = answer.out.splitlines()
    assert last_row.split() == ["9999", "a9999"]
    assert "the first 10,000 rows; there are more" in note
    assert "--format csv or json gives all" in note


def test_a_table_that_holds_all_says_nothing(loopscope: Loopscope, db: Path) -> None:
    answer = loopscope("sql", "SELECT * FROM range(10000)", "--db", db)
    assert (answer.code, answer.err) == (0, "")
    assert len(answer.out.splitlines()) == 2 + 10_000


def test_a_table_of_long_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounded_table, "MOST_CHARACTERS", 25_000)
    table = BoundedTable(["a"])
    for _ in table.taken([[("b" * 10_001,), ("c" * 10_000,)], [("d" * 9_000,), ("e",)]]):
        pass
    assert [row["a"] for row in table.rows] == ["b" * 10_000 + "…", "c" * 10_000, "d" * 9_000]
    assert table.left_out is not None
    assert "the first 3 rows; there are more, 1 values cut to 10,000 characters" in table.left_out


@pytest.mark.parametrize(
    ("size", "number"), [("1GB", 10**9), ("512 MiB", 512 << 20), ("1.5KB", 1500), ("2TiB", 2 << 40), ("100MB", 10**8)]
)
def test_sizes_are_read_as_duckdb_reads_them(size: str, number: int) -> None:
    assert bytes_of(size) == number
