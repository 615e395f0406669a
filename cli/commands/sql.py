"""`loopscope sql`: a query of the user's own over the views."""

from __future__ import annotations

import sys

import click

from cli import output
from cli.exit_codes import ExitCode
from cli.view import View, check_utf8, reading_options


@click.command(short_help="A query of your own over the views, sandboxed.")
@click.argument("query")
@reading_options
def sql(view: View, query: str) -> int:
    """Run one SELECT over the views: sessions, turns, responses, calls, dead_calls, decisions, divergences, trips,
    loop_events, findings, guards, sources, problems.

    QUERY - reads the query from stdin. It can neither read nor write a file, and is stopped when it takes too long
    (sql_timeout_seconds). The filters apply to it as to every command. `DESCRIBE calls` lists a view's columns.
    """
    import duckdb

    from analysis import queries
    from analysis.reading import time_limit

    text = sys.stdin.read() if query == "-" else query
    check_utf8("QUERY", text)
    with view.open() as con:
        try:
            with time_limit(con, view.settings.sql_timeout_seconds):
                statements = con.extract_statements(text)
                if len(statements) != 1 or statements[0].type.name not in ("SELECT", "EXPLAIN"):
                    raise click.UsageError("Give one SELECT (or DESCRIBE, SUMMARIZE, EXPLAIN); the store is not written to.")
                rows = queries.fetch(con.execute(statements[0]))
        except duckdb.InterruptException:
            raise
        except duckdb.Error as e:
            click.echo(f"loopscope: {_one_line(e)}", err=True)
            return ExitCode.USAGE
    if not rows.rows:
        view.explain_empty("The query gives no row.")
    output.write(view.format, rows)
    return ExitCode.OK


def _one_line(error: Exception) -> str:
    """DuckDB adds the query with a caret below; on one line, its first line and its suggestion say as much."""
    from analysis.inert_text import inert

    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return inert(" ".join(line for line in lines if not line.startswith(("LINE ", "^"))))
