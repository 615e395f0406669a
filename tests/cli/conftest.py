"""Commands run in this process, as `main` runs them, and the recordings of data/ ingested once."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from cli.main import run

RECORDINGS = Path(__file__).parents[2] / "data" / "recordings"


class Answer(NamedTuple):
    code: int
    out: str
    err: str

    def json(self) -> Any:
        return json.loads(self.out)


Loopscope = Callable[..., Answer]


@pytest.fixture
def loopscope(capsys: pytest.CaptureFixture[str]) -> Loopscope:
    def loopscope(*arguments: object) -> Answer:
        capsys.readouterr()
        code = run([str(argument) for argument in arguments])
        return Answer(code, *capsys.readouterr())

    return loopscope


@pytest.fixture(scope="session")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    db = tmp_path_factory.mktemp("recorded") / "store.duckdb"
    assert run(["ingest", str(RECORDINGS), "--db", str(db)]) == 0
    return db
