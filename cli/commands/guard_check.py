"""`loopscope guard check`: which rules a guard keeps."""

from __future__ import annotations

import click

from analysis.inert_text import inert
from cli import output
from cli.exit_codes import ExitCode
from cli.guard_options import DEFAULT_REPLY_SECONDS, REPLY_SECONDS
from cli.layout import write_parts
from cli.output import FORMATS, Format
from cli.table import Table

COLUMNS = ("rule", "kind", "kept", "about", "why_not")
_HEADINGS = {"why_not": "why not"}


@click.command("check", short_help="Play the conformance kit to a guard; say which rules it keeps.")
@click.argument("command", metavar="COMMAND")
@click.option("--require", default="", metavar="RULES", help="Policy rules that must be kept too, by commas; `all` for all.")
@click.option(
    "--reply-within",
    type=REPLY_SECONDS,
    default=DEFAULT_REPLY_SECONDS,
    show_default=True,
    metavar="SECONDS",
    help="How long the guard may take for one batch; to start, twice that.",
)
@click.option("--format", "form", type=click.Choice(FORMATS), default="table", show_default=True)
def check(command: str, require: str, reply_within: float, form: Format) -> int:
    """Play scripts with known answers to a guard and say which rules it keeps.

    COMMAND starts a program that speaks the guard protocol (docs/guard-protocol.md); a built-in guard, with settings or
    without, or PATH/FILE.py:NAME will do too. A rule of kind `must` is for every guard. In the `policy` rules guards differ:
    they are told, and required only where --require names them. Exit 1 where a required rule is not kept.
    """
    from analysis.guards.base import NoSuchGuard
    from analysis.guards.load import load
    from analysis.guards.process import CannotStart
    from analysis.guards.what_if import BadSettings
    from analysis.kit import RULE_IDS, play_kit

    required = {name.strip() for name in require.split(",") if name.strip()}
    if unknown := required - {*RULE_IDS, "all"}:
        raise click.BadParameter(
            f"no rule {', '.join(sorted(unknown))}; there are {', '.join(RULE_IDS)}", param_hint="--require"
        )
    try:
        results = list(play_kit(lambda source: load("checked", command, source, reply_within)))
    except (NoSuchGuard, BadSettings, CannotStart) as e:
        raise click.UsageError(str(e)) from e
    rows = [
        {"rule": one.rule.id, "kind": one.rule.kind, "kept": one.kept, "about": one.rule.about, "why_not": one.why_not}
        for one in results
    ]
    if form == "json":
        output.write_json(rows)
    elif form == "csv":
        output.write_csv(COLUMNS, rows)
    else:
        write_parts([Table(COLUMNS, rows, _HEADINGS, fold=("why_not", "about"))])
    needed = [one for one in results if one.rule.kind == "must" or one.rule.id in required or "all" in required]
    broken = [one.rule.id for one in needed if not one.kept]
    kept = sum(one.kept for one in results)
    sentence = f"Keeps {kept} of {len(results)} rules; of {len(needed)} required ones it breaks: {', '.join(broken) or 'none'}."
    click.echo(inert(sentence), err=form != "table")
    return ExitCode.FOUND if broken else ExitCode.OK
