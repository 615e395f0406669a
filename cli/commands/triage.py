"""`loopscope triage`: what needs a person, worst first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import click

from cli import output
from cli.exit_codes import ExitCode
from cli.places import short_places
from cli.session_ids import Shortener
from cli.view import View, reading_options

if TYPE_CHECKING:
    from rich.console import RenderableType

_STYLES = {"critical": "bold red", "high": "red", "medium": "yellow"}


@click.command(short_help="What is stuck, loops or was stopped; worst first.")
@reading_options
def triage(view: View) -> int:
    """What needs a person, worst first.

    First what is stuck in silence, then what loops, then what a guard stopped although its calls were fresh, then the
    rest.
    """
    from analysis import queries
    from analysis.counting import counted

    with view.open() as con:
        rows = queries.run(con, "triage")
        shortener = Shortener.of_store(con)
        (sessions,) = con.execute("SELECT count(*) FROM sessions").fetchall()[0]
    found = rows.dicts()
    if not sessions:
        view.explain_empty(
            "The store holds no session yet. `loopscope ingest PATH` reads logs, `loopscope doctor` says what was read."
        )
        if not view.filters.given():
            return ExitCode.NO_DATA
    elif not found:
        click.echo(f"Nothing hangs, loops or was stopped in {counted(sessions, 'session')}.", err=True)
    if view.format == "json":
        output.write_json(found)
    elif view.format == "csv":
        output.write_csv(rows.columns, found)
    else:
        output.write_table(_blocks(found, shortener))
    return ExitCode.OK


def _blocks(found: Sequence[dict[str, object]], shortener: Shortener) -> Iterator[RenderableType]:
    """Eight facts in columns leave no room for three sentences beside them, so these stand below.

    One block for a session's turns with the same finding, with the words of the newest: twenty silent turns of one session
    are one thing to look at.
    """
    groups: dict[tuple[object, object], list[dict[str, object]]] = {}
    for row in found:
        groups.setdefault((row["session_id"], row["kind"]), []).append(row)
    newest = [group[0] for group in groups.values()]
    heads = [
        (
            row["severity"],
            row["kind"],
            shortener.short(str(row["session_id"])),
            _turns([other["turn_no"] for other in group]),
            row["model"],
            row["client_version"],
            row["entry_point"],
            _minute(row["ended_at"]),
        )
        for row, group in zip(newest, groups.values(), strict=True)
    ]
    for row, head in zip(newest, output.aligned(heads), strict=True):
        head.stylize(_STYLES.get(str(row["severity"]), ""))
        evidence = row["evidence"] if isinstance(row["evidence"], list) else []
        yield head
        ended = "" if row["verdict"] in (row["kind"], None) else f"; the turn: {row['verdict']}"
        why = f"{row['reason']} ({row['confidence']}){ended}"
        yield output.Details({"why": why, "see": short_places(evidence), "try": row["what_to_try"]})


def _minute(moment: object) -> str:
    return output.words(moment)[: len("2026-11-30 17:57")] + "Z" if moment is not None else "-"


_MOST_TURNS = 3


def _turns(numbers: Sequence[object]) -> str:
    known = sorted(number for number in numbers if isinstance(number, int))
    if not known:
        return "session"
    if len(known) == 1:
        return f"turn {known[0]}"
    if len(known) > _MOST_TURNS:
        return f"{len(known)} turns to {known[-1]}"
    return "turns " + ",".join(map(str, known))
