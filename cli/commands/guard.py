"""`loopscope guard`: the guards, and what else there is to do with them."""

from __future__ import annotations

import click

from cli import output
from cli.commands.guard_check import check
from cli.commands.guard_diff import diff
from cli.commands.guard_fixture import fixture
from cli.commands.guard_run import run
from cli.exit_codes import ExitCode
from cli.view import View, passes, reading_options

_HEADINGS = {
    "turns_in_force": "in force (turns)",
    "observed_trips": "trips",
    "observed_trips_on_fresh_calls": "trips on fresh calls",
    "valid_calls": "valid for",
    "calls": "of calls",
}


@click.group(short_help="The guards: list them, try others, compare two over history.")
def guard() -> None:
    """The guards that are replayed over the recorded calls."""


@guard.command("list", short_help="The guards and what each did.")
@reading_options
def list_guards(view: View) -> int:
    """The guards, the turns in which each was in force, and the trips it has on history as it happened."""
    from analysis import queries

    with view.open() as con:
        rows = queries.run(con, "guard_list")
        code = view.explain_empty(con, "") if not passes(con, view.filters) else ExitCode.OK
    if not rows.rows:
        click.echo("The store holds no guards: nothing was analysed yet. Run `loopscope ingest PATH`.", err=True)
    output.write(view.format, rows, _HEADINGS, fold=("about",))
    return code


for _command in (diff, run, check, fixture):
    guard.add_command(_command)
