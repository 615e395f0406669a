"""`loopscope guard fixture`: a recorded difference between two guards, as a test case of a few lines."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from cli.exit_codes import ExitCode
from cli.guard_lab import contenders
from cli.guard_options import GuardOptions, guard_options
from cli.session_ids import resolve_place
from cli.view import View, reading_options
from ingest.errors import LoopscopeError

DEFAULT_GUARDS = ("id-breaker", "fingerprint")


@click.command("fixture", short_help="A difference between two guards as a minimal, redacted test case.")
@click.argument("place", metavar="SESSION[:TURN]")
@click.option(
    "--between",
    nargs=2,
    default=DEFAULT_GUARDS,
    show_default=True,
    metavar="BASE CANDIDATE",
    help="The guards that must differ.",
)
@click.option("--output", "-o", type=click.Path(path_type=Path, dir_okay=False), help="The file to write. [standard output]")
@guard_options
@reading_options
def fixture(view: View, options: GuardOptions, place: str, between: tuple[str, str], output: Path | None) -> int:
    """Write the smallest history that still shows the difference between two guards, as JSON for a test-suite.

    TURN may be a call's place as `guard diff` prints it. Ids, tool names and arguments become tokens that keep what is equal;
    order, prompts, compactions and how each call was answered stay. `guard run --fixture FILE` replays it.
    """
    from analysis.case_cut import NoDifference, cut_case
    from analysis.guard_case import written
    from analysis.guards.base import GuardFailed
    from cli.engine import facts_of

    with view.open() as con, contenders(con, options, between) as (base, candidate):
        session_id, turn_no = resolve_place(con, place)
        (facts,) = facts_of(con, [session_id])
        try:
            case = cut_case(facts, base, candidate, turn_no)
        except NoDifference as e:
            click.echo(f"No test case: {e}. Name other guards with --between, or another turn.", err=True)
            return ExitCode.NO_DATA
        except GuardFailed as e:
            raise LoopscopeError(f"A guard failed: {e}") from e
    if output is None:
        sys.stdout.write(written(case).decode())
    else:
        output.write_bytes(written(case))
        click.echo(f"{output}: {case.about}, {len(case.steps)} steps", err=True)
    return ExitCode.OK
