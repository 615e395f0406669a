"""The recordings give the same sessions, calls and findings however their files come to us."""

from __future__ import annotations

import gzip
import random
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import duckdb
import pytest
from backports import zstd

from tests.conformance.conftest import DATA, Recordings
from tests.support.ingested import ingest_into

VIEWS = {
    "sessions": "*",
    "turns": "* EXCLUDE (evidence)",
    "responses": "*",
    "calls": "* EXCLUDE (source_path, source_line)",
    "dead_calls": "* EXCLUDE (source_path, source_line)",
    "decisions": "*",
    "divergences": "*",
    "trips": "*",
    "loop_events": "*",
    "findings": "* EXCLUDE (evidence)",
    "cards": "* EXCLUDE (source_path, source_line, finished_line)",
    "problems": "*",
}
"""All that says nothing of the files themselves."""


def content(store: duckdb.DuckDBPyConnection) -> dict[str, list[Any]]:
    store.execute("SET VARIABLE as_of = TIMESTAMP '2100-01-01'")
    return {view: store.execute(f"SELECT {what} FROM {view} ORDER BY ALL").fetchall() for view, what in VIEWS.items()}


def after(db: Path, *runs: Sequence[Path]) -> dict[str, list[Any]]:
    """What the store holds when these folders were ingested one after another."""
    for roots in runs[:-1]:
        with ingest_into(db, *roots):
            pass
    with ingest_into(db, *runs[-1]) as store:
        return content(store)


def changed(target: Path, change: Callable[[bytes], bytes], suffix: str = "") -> Path:
    """The recordings with each file changed."""
    for path in (DATA / "recordings").rglob("*"):
        if path.is_file():
            copy = target / path.relative_to(DATA / "recordings")
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.with_name(copy.name + suffix).write_bytes(change(path.read_bytes()))
    return target


@pytest.fixture(scope="session")
def expected(recordings: Recordings) -> dict[str, list[Any]]:
    found = content(recordings.store)
    assert len(found["sessions"]) >= 60
    assert found["problems"] == []
    return found


def test_in_another_order(expected: dict[str, list[Any]], tmp_path: Path) -> None:
    versions = sorted((DATA / "recordings").iterdir(), reverse=True)
    assert after(tmp_path / "db", *([version] for version in versions)) == expected


def test_with_a_copy_beside_the_original(expected: dict[str, list[Any]], tmp_path: Path) -> None:
    shutil.copytree(DATA / "recordings", tmp_path / "backup")
    assert after(tmp_path / "db", [DATA / "recordings", tmp_path / "backup"]) == expected


@pytest.mark.parametrize(("pack", "suffix"), [(gzip.compress, ".gz"), (zstd.compress, ".zst")])
def test_packed(expected: dict[str, list[Any]], tmp_path: Path, pack: Callable[[bytes], bytes], suffix: str) -> None:
    packed = changed(tmp_path / "packed", pack, suffix)
    assert after(tmp_path / "alone", [packed]) == expected
    assert after(tmp_path / "beside", [DATA / "recordings", packed]) == expected


def test_each_file_cut_at_any_byte_and_then_completed(expected: dict[str, list[Any]], tmp_path: Path) -> None:
    seeded = random.Random(4)
    logs = changed(tmp_path / "logs", lambda data: data[: seeded.randrange(len(data) + 1)])
    with ingest_into(tmp_path / "db", logs) as store:
        cut = content(store)
    assert len(cut["calls"]) < len(expected["calls"])
    assert cut["problems"] == [] or {row[3] for row in cut["problems"]} == {"orphan-result"}
    changed(logs, bytes)
    assert after(tmp_path / "db", [logs]) == expected
