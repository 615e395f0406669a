"""What the recordings say does not hang on how they are read: twice, in pieces, in another order, doubled or packed."""

from __future__ import annotations

import gzip
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest

from cli.engine import run_ingest
from tests.ingest.store_content import content, first_difference

RECORDINGS = Path(__file__).parents[2] / "data" / "recordings"

COUNTED = {
    "sessions": "* EXCLUDE (cwd)",
    "turns": "* EXCLUDE (evidence)",
    "responses": "*",
    "calls": "* EXCLUDE (source_path, source_line)",
    "decisions": "*",
    "divergences": "*",
    "trips": "*",
    "loop_events": "*",
    "findings": "* EXCLUDE (finding_id, evidence)",
}
"""Everything but where it stands."""


def counts(db: Path) -> dict[str, list[Any]]:
    with duckdb.connect(db, read_only=True) as con:
        con.execute("SET VARIABLE as_of = TIMESTAMP '2100-01-01'")
        return {view: con.execute(f"SELECT {chosen} FROM {view} ORDER BY ALL").fetchall() for view, chosen in COUNTED.items()}


def files(logs: Path) -> list[Path]:
    return sorted(path for path in logs.rglob("*") if path.is_file())


@pytest.fixture(scope="module")
def at_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The recordings, and beside them the store that one reading of them makes."""
    folder = tmp_path_factory.mktemp("at-once")
    shutil.copytree(RECORDINGS, folder / "logs")
    run_ingest([folder / "logs"], folder / "store.duckdb", workers=1)
    return folder


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    shutil.copytree(RECORDINGS, tmp_path / "logs")
    return tmp_path / "logs"


def read_twice(logs: Path, ingest: Callable[[Path], None]) -> None:
    ingest(logs)


def read_in_another_order(logs: Path, ingest: Callable[[Path], None]) -> None:
    for path in files(logs)[::-2]:
        ingest(path)


def read_with_a_copy_beside_it(logs: Path, ingest: Callable[[Path], None]) -> None:
    shutil.copytree(logs, logs / "backup")


def read_packed(logs: Path, ingest: Callable[[Path], None]) -> None:
    for path in files(logs):
        path.with_name(path.name + ".gz").write_bytes(gzip.compress(path.read_bytes(), mtime=0))
        path.unlink()


@pytest.mark.parametrize("prepare", [read_twice, read_in_another_order, read_with_a_copy_beside_it, read_packed])
def test_counts_do_not_change(
    prepare: Callable[[Path, Callable[[Path], None]], None], logs: Path, at_once: Path, tmp_path: Path
) -> None:
    db = tmp_path / "store.duckdb"

    def ingest(path: Path) -> None:
        run_ingest([path], db, workers=1)

    prepare(logs, ingest)
    ingest(logs)
    assert first_difference(counts(db), counts(at_once / "store.duckdb")) == ""


def test_cut_at_random_and_completed_it_is_the_same_store_row_for_row(
    logs: Path, at_once: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ingest.growth.WORTH_MARKING", 1)
    db = tmp_path / "store.duckdb"
    generator = random.Random()
    whole = {path: path.read_bytes() for path in files(logs)}
    reached = dict.fromkeys(whole, 0)
    for path in whole:
        path.write_bytes(b"")
    for last in (False, False, True):
        for path, data in whole.items():
            more = len(data) if last else generator.randint(reached[path], len(data))
            with path.open("ab") as growing:
                growing.write(data[reached[path] : more])
            reached[path] = more
        run_ingest([logs], db, workers=1)
    run_ingest([logs], tmp_path / "fresh.duckdb", workers=1)
    assert first_difference(content(db), content(tmp_path / "fresh.duckdb")) == ""
    assert first_difference(counts(db), counts(at_once / "store.duckdb")) == ""
