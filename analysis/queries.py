"""The named read queries, one `.sql` file each in `analysis/sql`, shared by the commands and the dashboard's pages.

A query is text that we wrote; what a person or a log says is bound as a `$name` parameter and never formatted into it.
"""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import duckdb
    import polars


class Rows(NamedTuple):
    """An answer with its column names, which an empty answer needs too."""

    columns: list[str]
    rows: list[tuple[object, ...]]

    def dicts(self) -> list[dict[str, object]]:
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]


@cache
def text_of(name: str) -> str:
    return resources.files("analysis").joinpath("sql", f"{name}.sql").read_text(encoding="utf-8")


def run(con: duckdb.DuckDBPyConnection, name: str, **parameters: object) -> Rows:
    """The answer as Python values, for a command to print. Every `$name` of the query must be given, nothing else."""
    return fetch(con.execute(text_of(name), parameters))


def fetch(executed: duckdb.DuckDBPyConnection) -> Rows:
    return Rows([column[0] for column in executed.description or []], executed.fetchall())


def frame(con: duckdb.DuckDBPyConnection, name: str, **parameters: object) -> polars.DataFrame:
    """The answer as a Polars frame: what a figure draws."""
    import polars

    answer = polars.from_arrow(con.sql(text_of(name), params=parameters).to_arrow_table())
    assert isinstance(answer, polars.DataFrame)
    return answer
