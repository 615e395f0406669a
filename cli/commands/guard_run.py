"""`loopscope guard run`: guards over history, session by session."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

from analysis.compare import IN_FORCE
from analysis.counting import counted
from cli import output
from cli.exit_codes import ExitCode
from cli.guard_cases import COLUMNS as CASE_COLUMNS
from cli.guard_cases import replay_case
from cli.guard_lab import Tried, tell_missing, tried
from cli.guard_options import GuardOptions, guard_options, read_sessions, sessions_option
from cli.layout import Paragraph, write_parts
from cli.session_ids import Shortener
from cli.table import Table
from cli.view import View, reading_options
from ingest.errors import LoopscopeError

COLUMNS = (
    "guard",
    "session_id",
    "calls",
    "execute",
    "suppress",
    "trip",
    "drop",
    "unknown",
    "observed",
    "counterfactual",
    "first_divergence",
    "differs_from_in_force",
    "failure",
)
_HEADINGS = {"first_divergence": "first divergence", "differs_from_in_force": "other than in force"}


@click.command("run", short_help="Run guards over history, session by session.")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option(
    "--fixture",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="Run on this test case (`guard fixture` writes them) and not on the store: one row a call.",
)
@guard_options
@sessions_option
@reading_options
def run(view: View, options: GuardOptions, sessions: Path | None, names: tuple[str, ...], fixture: Path | None) -> int:
    """Run guards over the recorded sessions: those given with --guard, built-in ones by NAME.

    One row a guard and session: its decisions, counterfactual ones among them, how many are facts (`observed`), where it first
    decided otherwise than was done, and on how many calls as a fact otherwise than the guard that was in force. The sentence
    below sums facts and counterfactual decisions apart. A session in which a guard crashed, hung or talked nonsense has the
    reason in `failure`; the run goes on, and ends with exit code 4.
    """
    if fixture is not None:
        return _run_case(view, fixture, options, names)
    chosen = (*dict.fromkeys((*options.specs, *names)),)
    if not chosen:
        raise click.UsageError("Say which: --guard NAME=GUARD, or the NAME of a built-in one.")
    with tried(view, options, chosen, read_sessions(sessions)) as lab:
        rows = [row for name in chosen for row in _rows(lab, name)]
        shortener = Shortener.of_store(lab.con)
        code = ExitCode.OK if rows else view.explain_empty(lab.con, "There is no call to run a guard on.")
    sums = [_sum(name, [row for row in rows if row["guard"] == name]) for name in chosen]
    _write(view, COLUMNS, rows, sums, shortener)
    tell_missing(lab)
    return ExitCode.CANNOT_TELL if lab.failures else code


def _run_case(view: View, fixture: Path, options: GuardOptions, names: tuple[str, ...]) -> int:
    """All guards, where none is named."""
    from analysis.guards.base import GuardFailed

    try:
        rows = list(replay_case(fixture, options, names))
    except GuardFailed as e:
        raise LoopscopeError(f"A guard failed: {e}") from e
    told = [row["agrees"] for row in rows if row["agrees"] is not None]
    _write(view, CASE_COLUMNS, rows, [f"As expected on {sum(told)} of {len(told)} decisions that the file tells."])
    return ExitCode.OK


def _write(
    view: View, columns: Sequence[str], rows: list[dict[str, Any]], sentences: Sequence[str], shortener: Shortener | None = None
) -> None:
    if view.format == "table":
        short = {"session_id": shortener.short} if shortener is not None else None
        table = Table(columns, rows, _HEADINGS, fold=("failure", "first_divergence"), short=short)
        write_parts([*([table] if rows else []), *map(Paragraph, sentences)])
        return
    if view.format == "json":
        output.write_json(rows)
    else:
        output.write_csv(columns, rows)
    for sentence in sentences:
        click.echo(sentence, err=True)


def _rows(lab: Tried, name: str) -> list[dict[str, Any]]:
    from analysis import queries

    failed = {str(failure["session_id"]): failure["reason"] for failure in lab.failures if failure["guard"] == name}
    rows = [
        {"guard": name, **row, "failure": failed.get(str(row["session_id"]))}
        for row in queries.run(lab.con, "guard_run", base=IN_FORCE, candidate=name).dicts()
    ]
    return sorted(rows, key=lambda row: row["failure"] is None)


def _sum(name: str, rows: list[dict[str, Any]]) -> str:
    """Facts first: what is counterfactual is shown, and never counted with them."""

    def total(column: str) -> int:
        return sum(row[column] for row in rows)

    def decisions(of: Callable[[str], int]) -> str:
        return ", ".join(f"{of(decision)} {decision}" for decision in ("execute", "suppress", "trip", "drop"))

    facts = decisions(lambda decision: total(f"observed_{decision}"))
    others = decisions(lambda decision: total(decision) - total(f"observed_{decision}"))
    failed = sum(row["failure"] is not None for row in rows)
    return (
        f"{name}: {counted(total('calls'), 'call')} in {counted(len(rows), 'session')}. Facts: {facts}; "
        f"{total('differs_from_in_force')} of them other than the guard in force decided. Counterfactual, after it left what "
        f"was done: {others}. Unknown: {total('unknown')}. Failed in {failed} sessions."
    )
