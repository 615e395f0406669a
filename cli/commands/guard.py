"""`loopscope guard`: the guards, and two of them over the same history."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from cli import output
from cli.exit_codes import ExitCode
from cli.view import View, reading_options

if TYPE_CHECKING:
    import duckdb

_HEADINGS = {
    "turns_in_force": "in force (turns)",
    "observed_trips": "trips",
    "observed_trips_on_fresh_calls": "trips on fresh calls",
    "base_decision": "base",
    "candidate_decision": "candidate",
}


@click.group(short_help="The guards: list them, compare two over history.")
def guard() -> None:
    """The guards that are replayed over the recorded calls."""


@guard.command("list", short_help="The guards and what each did.")
@reading_options
def list_guards(view: View) -> int:
    """The guards, the turns in which each was in force, and the trips it has on history as it happened."""
    from analysis import queries

    with view.open() as con:
        rows = queries.run(con, "guard_list")
    if not rows.rows:
        click.echo("The store holds no guards: nothing was analysed yet. Run `loopscope ingest PATH`.", err=True)
    output.write(view.format, rows, _HEADINGS)
    return ExitCode.OK


@guard.command(short_help="What CANDIDATE decides otherwise than BASE.")
@click.argument("base")
@click.argument("candidate")
@reading_options
def diff(view: View, base: str, candidate: str) -> int:
    """Count the calls by what guard BASE and guard CANDIDATE decide on them, by class and model.

    A row is `observed` where both guards still stand on history as it happened. Once a guard decides otherwise than was
    done, its later decisions in that turn are `counterfactual`: listed apart, never summed with the facts. `not-reached`:
    the guard had ended the turn before this call.
    """
    from analysis import queries

    with view.open() as con:
        _require_guards(con, base, candidate)
        rows = queries.run(con, "guard_diff", base=base, candidate=candidate)
        ((*counts,),) = queries.run(con, "guard_diff_coverage", base=base, candidate=candidate).rows
    if not rows.rows:
        view.explain_empty("There is no call to compare the guards on.")
    output.write(view.format, rows, _HEADINGS)
    if rows.rows:
        total, valid, unknown, counterfactual, differing, turns, differing_turns = counts
        click.echo(
            f"Valid for {valid} of {total} calls ({counterfactual} counterfactual, {unknown} unknown). "
            f"The guards differ on {differing} of them, in {differing_turns} of {turns} turns.",
            err=view.format != "table",
        )
    return ExitCode.OK


def _require_guards(con: duckdb.DuckDBPyConnection, *names: str) -> None:
    from analysis import queries

    known = [str(row[0]) for row in queries.run(con, "guard_names").rows]
    for name in names:
        if name not in known:
            raise click.UsageError(f"There is no guard {name!r}. Known are: {', '.join(known) or 'none'}.")
