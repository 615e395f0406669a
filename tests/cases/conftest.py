"""Every case's log, ingested or analysed once; the tests read the public views only, as a user would."""

from __future__ import annotations

from collections.abc import Iterator

import duckdb
import pytest

from tests.cases.as_records import as_records
from tests.cases.case import Case
from tests.cases.part_a import PART_A
from tests.support.ingested import ingest_into
from tests.support.memory_store import store_of
from tests.support.qwen_log import qwen_log


@pytest.fixture(scope="session")
def _ingested(tmp_path_factory: pytest.TempPathFactory) -> Iterator[duckdb.DuckDBPyConnection]:
    folder = tmp_path_factory.mktemp("cases")
    chats = folder / "projects/-p/chats"
    chats.mkdir(parents=True)
    for case in PART_A:
        if case.log.on_disk:
            (chats / f"{case.name}.jsonl").write_bytes(qwen_log(case.name, case.log))
    with ingest_into(folder / "store.duckdb", folder / "projects") as store:
        yield store


@pytest.fixture(scope="session")
def _as_records() -> Iterator[duckdb.DuckDBPyConnection]:
    with store_of(as_records(case.name, case.log) for case in PART_A if not case.log.on_disk) as store:
        yield store


@pytest.fixture
def store(
    case: Case, _ingested: duckdb.DuckDBPyConnection, _as_records: duckdb.DuckDBPyConnection
) -> duckdb.DuckDBPyConnection:
    """The one that holds the case. No log is fresh, so none is `running`."""
    chosen = _ingested if case.log.on_disk else _as_records
    chosen.execute("SET VARIABLE as_of = TIMESTAMP '2100-01-01'")
    return chosen
