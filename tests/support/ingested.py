"""Logs through the whole engine, as `loopscope ingest` does it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb

from cli.engine import run_ingest


@contextmanager
def ingest_into(db: Path, *roots: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """The published store, open for reading."""
    run_ingest(roots, db, workers=1)
    with duckdb.connect(db, read_only=True) as store:
        yield store
