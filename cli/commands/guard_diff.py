"""`loopscope guard diff`: two guards over the same history, and a gate on what changes."""

from __future__ import annotations

from pathlib import Path

import click

from analysis.compare import ANY, CHANGE_NAMES, CHANGES, DEFAULT_COVERAGE, calls_of, judge_gate
from cli import guard_baseline, output
from cli.exit_codes import ExitCode
from cli.guard_lab import tell_missing, tried
from cli.guard_options import GuardOptions, guard_options, read_sessions, sessions_option
from cli.guard_report import SPLITS, Comparison, as_rows, compare, draw
from cli.layout import Paragraph, write_parts
from cli.numbers import Number
from cli.view import View, reading_options

_EXIT_CODES = {
    "passed": ExitCode.OK,
    "found": ExitCode.FOUND,
    "no-data": ExitCode.NO_DATA,
    "cannot-tell": ExitCode.CANNOT_TELL,
}


MOST_EXAMPLES = 1_000_000

_CSV_COLUMNS = (
    "basis",
    "base_decision",
    "candidate_decision",
    "same",
    "changes",
    "class",
    "model",
    "version",
    "entry_point",
    "calls",
    "turns",
    "sessions",
)


class NameList(click.ParamType[tuple[str, ...]]):
    """Names of a known set, separated by commas."""

    name = "names"

    def __init__(self, known: tuple[str, ...]) -> None:
        self.known = known

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, ...]:
        if isinstance(value, tuple):
            return value
        names = tuple(dict.fromkeys(name.strip() for name in str(value).split(",") if name.strip()))
        for name in names:
            if name not in self.known:
                self.fail(f"{name!r} is none of {', '.join(self.known)}", param, ctx)
        if not names:
            self.fail("no name given", param, ctx)
        return names


@click.command(
    "diff",
    short_help="What CANDIDATE decides otherwise than BASE.",
    epilog="Changes: " + "; ".join(f"{change.name}: {change.about}" for change in CHANGES) + ".",
)
@click.argument("base")
@click.argument("candidate")
@click.option("--by", type=NameList(SPLITS), default=(), help=f"Split the table further: {', '.join(SPLITS)}. JSON always is.")
@click.option(
    "--examples", type=click.IntRange(0, MOST_EXAMPLES), default=5, show_default=True, help="Calls to show, worst first."
)
@click.option(
    "--fail-on", type=NameList((*CHANGE_NAMES, ANY)), metavar="CHANGES", help="Exit 1 where one of these changes is found."
)
@click.option(
    "--min-coverage",
    type=Number(0, 100),
    default=DEFAULT_COVERAGE,
    show_default=True,
    help="Percent of the calls that must be valid for both guards before --fail-on may pass; below it exits 4.",
)
@click.option(
    "--baseline",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="What was accepted before: --fail-on then counts only what is not as it says, and each difference is named.",
)
@click.option("--write-baseline", type=click.Path(path_type=Path, dir_okay=False), help="Accept what is now into this file.")
@guard_options
@sessions_option
@reading_options
def diff(
    view: View,
    options: GuardOptions,
    sessions: Path | None,
    base: str,
    candidate: str,
    by: tuple[str, ...],
    examples: int,
    fail_on: tuple[str, ...] | None,
    min_coverage: float,
    baseline: Path | None,
    write_baseline: Path | None,
) -> int:
    """Count the calls by what guard BASE and guard CANDIDATE decide on them, by class, model, version and entry point.

    Either may be `in-force`: the guard that was in force in each turn. A row is `observed` where both guards still stand on
    history as it happened. Once a guard decides otherwise than was done, its later decisions in that turn are
    `counterfactual`: listed apart, never summed with the facts. `not-reached`: the guard had ended the turn before this call.

    JSON is a list of objects: `section` says of what, `format_version` of which form.
    """
    with tried(view, options, (base, candidate), read_sessions(sessions)) as lab:
        comparison = compare(lab.con, base, candidate, SPLITS if view.format == "json" else by, examples)
        held = guard_baseline.hold(lab.con, baseline, base, candidate) if baseline is not None else None
        if write_baseline is not None:
            guard_baseline.write(lab.con, write_baseline, base, candidate)
        comparison.baseline = held.rows if held is not None else []
        comparison.failures = [failure for failure in lab.failures if failure["guard"] in (base, candidate)]
        code = ExitCode.OK if comparison.pairs else view.explain_empty(lab.con, "There is no call to compare the guards on.")
    _write(view, comparison, by)
    tell_missing(lab)
    if fail_on is None:
        return ExitCode.CANNOT_TELL if comparison.failures else code
    doubts = [f"a guard failed in {failed} sessions"] if (failed := len(comparison.failures)) else []
    found = calls_of(comparison.changes)
    if held is not None:
        found = held.found
        doubts += held.doubts(CHANGE_NAMES if ANY in fail_on else fail_on, min_coverage)
    result = judge_gate(fail_on, found, comparison.coverage, min_coverage, doubts)
    click.echo(f"Gate {result.verdict}: {'; '.join(result.reasons) or ', '.join(fail_on)}", err=True)
    return _EXIT_CODES[result.verdict]


def _write(view: View, comparison: Comparison, by: tuple[str, ...]) -> None:
    if view.format == "json":
        output.write_json(as_rows(comparison))
    elif view.format == "csv":
        output.write_csv(_CSV_COLUMNS, comparison.pairs)
    elif comparison.pairs:
        write_parts([*draw(comparison, by), Paragraph(""), *map(Paragraph, comparison.sentences)])
    if comparison.pairs and view.format != "table":
        for sentence in comparison.sentences:
            click.echo(sentence, err=True)
