"""`loopscope sql`: a query of the user's own over the views."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from cli import output
from cli.exit_codes import ExitCode
from cli.layout import write_parts
from cli.table import Table
from cli.view import View, check_utf8, reading_options

if TYPE_CHECKING:
    import duckdb


@click.command(short_help="A query of your own over the views, sandboxed.")
@click.argument("query")
@reading_options
def sql(view: View, query: str) -> int:
    """Run one SELECT over the views: sessions, turns, responses, calls, dead_calls, guards, decisions, divergences, trips,
    loop_events, findings, cards, cards_by_search, card_remedies, sources, problems, store, verdict_ranks.

    QUERY - reads the query from stdin. It can neither read nor write a file, and is stopped when it takes too long
    (sql_timeout_seconds) or too much memory (sql_memory_limit), its answer included. The filters apply to it as to every
    command. `DESCRIBE calls` lists a view's columns. A table ends after ten thousand rows and says so; csv and json never do.
    """
    import duckdb

    from analysis import queries

    text = sys.stdin.read() if query == "-" else query
    check_utf8("QUERY", text)
    with view.open() as con:
        try:
            has_rows = _answer(view, con, text)
            return ExitCode.OK if has_rows else view.explain_empty(con, "The query gives no row.")
        except duckdb.Error as e:
            if damage := queries.as_damage(e):
                raise damage from e
            click.echo(f"loopscope: {_one_line(e)}", err=True)
            return ExitCode.USAGE


def _answer(view: View, con: duckdb.DuckDBPyConnection, text: str) -> bool:
    """Whether there is one. Written as it comes: of a query that is stopped on its way the beginning is out."""
    from cli.bounded_query import BoundedQuery
    from cli.bounded_table import BoundedTable

    query = BoundedQuery(con, view.settings.sql_timeout_seconds, view.settings.sql_memory_limit)
    pieces = query.pieces(text)
    if view.format == "table":
        table = BoundedTable(query.columns)
        for _ in query.within_limits(table.taken(pieces)):
            pass
        if table.rows:
            write_parts([Table(query.columns, table.rows)])
        if table.left_out:
            click.echo(table.left_out)
        return bool(table.rows)
    rows = ([dict(zip(query.columns, row, strict=True)) for row in piece] for piece in pieces)
    texts = output.json_texts(rows) if view.format == "json" else output.csv_texts(query.columns, rows)
    for made in query.within_limits(texts):
        sys.stdout.write(made)
    return query.fetched > 0


def _one_line(error: Exception) -> str:
    """DuckDB adds the query with a caret below; on one line, its first line and its suggestion say as much."""
    from analysis.inert_text import inert

    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return inert(" ".join(line for line in lines if not line.startswith(("LINE ", "^"))))
