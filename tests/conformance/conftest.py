"""The recordings in data/, ingested once for all tests of this folder."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import duckdb
import pytest

from tests.conformance.compare import session_ids
from tests.support.ingested import ingest_into

DATA = Path(__file__).parents[2] / "data"


@dataclass(frozen=True)
class Recordings:
    folder: Path
    store: duckdb.DuckDBPyConnection

    def session_id(self, name: str) -> str:
        (session_id,) = session_ids(self.folder / name)
        return session_id


@pytest.fixture(scope="session")
def recordings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Recordings]:
    folder = DATA / "recordings"
    with ingest_into(tmp_path_factory.mktemp("recordings") / "store.duckdb", folder) as store:
        yield Recordings(folder, store)
