from __future__ import annotations

from typing import TYPE_CHECKING

import click

from analysis.compare import IN_FORCE

if TYPE_CHECKING:
    import duckdb


def require_guards(con: duckdb.DuckDBPyConnection, *names: str) -> None:
    from analysis import queries

    known = [str(row[0]) for row in queries.run(con, "guard_names").rows]
    for name in names:
        if name not in (*known, IN_FORCE):
            raise click.UsageError(f"There is no guard {name!r}. Known are: {', '.join(known) or 'none'}.")
