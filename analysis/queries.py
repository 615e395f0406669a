"""The named read queries, one `.sql` file each in `analysis/sql`, shared by the commands and the dashboard's pages.

A query is text that we wrote; what a person or a log says is bound as a `$name` parameter and never formatted into it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib import resources
from itertools import count
from typing import TYPE_CHECKING, NamedTuple

from ingest.errors import LoopscopeError, StoreDamaged

if TYPE_CHECKING:
    import duckdb
    import polars


_INCLUDED = re.compile(r"(?<=FROM )\{(\w+)\}")


class Rows(NamedTuple):
    """An answer with its column names, which an empty answer needs too."""

    columns: list[str]
    rows: list[tuple[object, ...]]

    def dicts(self) -> list[dict[str, object]]:
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]


@cache
def text_of(name: str) -> str:
    """`FROM {name}` in a query stands for the query of that name: what several count must be the same rows."""
    text = resources.files("analysis").joinpath("sql", f"{name}.sql").read_text(encoding="utf-8")
    return _INCLUDED.sub(lambda included: f"(\n{text_of(included[1])})", text)


def run(con: duckdb.DuckDBPyConnection, name: str, **parameters: object) -> Rows:
    """The answer as Python values, for a command to print. Every `$name` of the query must be given, nothing else.

    Raises StoreDamaged.
    """
    with _explained(name):
        executed = con.execute(text_of(name), parameters)
        return Rows(columns_of(executed), executed.fetchall())


def columns_of(executed: duckdb.DuckDBPyConnection) -> list[str]:
    return _distinct([column[0] for column in executed.description or []])


def frame(con: duckdb.DuckDBPyConnection, name: str, **parameters: object) -> polars.DataFrame:
    """The answer as a Polars frame, for a figure to draw. Raises StoreDamaged."""
    import polars

    with _explained(name):
        answer = polars.from_arrow(con.sql(text_of(name), params=parameters).to_arrow_table())
    assert isinstance(answer, polars.DataFrame)
    return answer


def _distinct(names: list[str]) -> list[str]:
    """`SELECT 1 AS a, 2 AS a` is an answer of two columns: the second becomes `a_2`, so that no row loses a value."""
    distinct: list[str] = []
    for name in names:
        unused = (f"{name}_{number}" if number > 1 else name for number in count(1))
        distinct.append(next(candidate for candidate in unused if candidate not in distinct))
    return distinct


def damaged_tables(con: duckdb.DuckDBPyConnection) -> dict[str, str]:
    """The tables of the store that cannot be read whole, each with DuckDB's words. Reads everything: a damaged page shows only
    then, and a store may be years of logs that are gone."""
    import duckdb

    damaged = {}
    with _explained("of every table"):
        of_store = "SELECT table_name FROM duckdb_tables() WHERE database_name = 'loopscope' ORDER BY table_name"
        for (table,) in con.execute(of_store).fetchall():
            try:
                con.execute(f'SELECT max(hash(t)) FROM loopscope.main."{table}" t').fetchall()
            except duckdb.Error as e:
                if as_damage(e) is None:
                    raise
                damaged[str(table)] = _first_line(e)
    return damaged


def as_damage(error: duckdb.Error) -> StoreDamaged | None:
    """Where DuckDB says that a page is not as it was written; None where the query is at fault, whatever words it holds."""
    if type(error).__name__ not in ("Error", "IOException", "SerializationException", "FatalException"):
        return None
    told = _first_line(error)
    if "orrupt" not in told and "read enough bytes" not in told and type(error).__name__ != "FatalException":
        return None
    return StoreDamaged(
        f"The store is damaged ({told}). `loopscope doctor` says how much of it, and `loopscope rebuild PATH...` makes it anew "
        "from the logs that are still there."
    )


@contextmanager
def _explained(name: str) -> Iterator[None]:
    """Our own query fails on a store of another version (a view or column is missing) or on a broken file."""
    import duckdb

    try:
        yield
    except duckdb.InterruptException:
        raise
    except duckdb.OutOfMemoryException as e:
        raise LoopscopeError(
            f"The query {name} needs more memory than it may take. Narrow it with filters, or raise sql_memory_limit."
        ) from e
    except duckdb.Error as e:
        raise as_damage(e) or StoreDamaged(
            f"The store does not answer the query {name} ({_first_line(e)}). If another version of loopscope made it, "
            "`loopscope ingest` brings it up to date; else move it away and ingest again."
        ) from e


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0]
