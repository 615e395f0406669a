"""`loopscope triage`: what needs a person, worst first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import click

from analysis.counting import counted
from cli import output
from cli.exit_codes import ExitCode
from cli.layout import Details, Paragraph, Part, aligned, write_parts
from cli.places import short_places
from cli.session_ids import Shortener
from cli.view import View, reading_options
from cli.words import words

Row = dict[str, object]

_STYLES = {"critical": "bold red", "high": "red", "medium": "yellow"}


@click.command(short_help="What is stuck, loops or was stopped; worst first.")
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    metavar="N",
    help="The N worst; in a table, a session's turns with one finding count once.",
)
@reading_options
def triage(view: View, limit: int | None) -> int:
    """What needs a person, worst first.

    First what is stuck in silence, then what loops, then what a guard stopped although its calls were fresh, then the
    rest.
    """
    from analysis import queries

    with view.open() as con:
        rows = queries.run(con, "triage")
        shortener = Shortener.of_store(con)
        verdicts = queries.run(con, "overview_verdicts").rows
        (sessions,) = con.execute("SELECT count(*) FROM sessions").fetchall()[0]
        code = ExitCode.OK
        if not rows.rows:
            code = view.explain_empty(con, _nothing(sessions))
    found = rows.dicts()
    if not sessions and not found:
        code = ExitCode.NO_DATA
    is_table = view.format == "table"
    entries = _entries(found) if is_table else [[row] for row in found]
    shown = entries[:limit]
    what = "entries (each a session's findings of one kind)" if is_table else "findings"
    left_out = [f"{len(entries) - len(shown)} more {what} are left out by --limit."] if len(shown) < len(entries) else []
    if is_table:
        totals = [Paragraph(_totals(found, verdicts), "bold")] if found else []
        write_parts([*totals, *_blocks(shown, shortener), *map(Paragraph, left_out)])
        return code
    for sentence in left_out:
        click.echo(sentence, err=True)
    listed = [row for entry in shown for row in entry]
    if view.format == "json":
        output.write_json(listed)
    else:
        output.write_csv(rows.columns, listed)
    return code


def _nothing(sessions: int) -> str:
    if sessions:
        return f"Nothing hangs, loops or was stopped in {counted(sessions, 'session')}."
    return "The store holds no session yet. `loopscope ingest PATH` reads logs, `loopscope doctor` says what was read."


def _totals(found: Sequence[Mapping[str, object]], verdicts: Sequence[tuple[object, ...]]) -> str:
    """Of main sessions, as the overview and the end of `ingest` count them."""
    by_verdict = [(str(verdict), int(str(number))) for verdict, number in verdicts if number]
    sessions = counted(sum(number for _, number in by_verdict), "session")
    listed = ", ".join(f"{number} {verdict}" for verdict, number in by_verdict)
    concerned = counted(len({row["session_id"] for row in found}), "session")
    return f"{sessions}: {listed}. {counted(len(found), 'finding')} in {concerned}, worst first:"


def _entries(found: Sequence[Row]) -> list[list[Row]]:
    """A session's turns with the same finding: twenty silent turns of one session are one thing to look at."""
    groups: dict[tuple[object, object], list[Row]] = {}
    for row in found:
        groups.setdefault((row["session_id"], row["kind"]), []).append(row)
    return [*groups.values()]


def _blocks(entries: Sequence[Sequence[Row]], shortener: Shortener) -> Iterator[Part]:
    """Eight facts in columns leave no room for three sentences beside them, so these stand below; they are the newest's."""
    newest = [entry[0] for entry in entries]
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
        for row, group in zip(newest, entries, strict=True)
    ]
    for row, head in zip(newest, aligned(heads), strict=True):
        head.style = _STYLES.get(str(row["severity"]), "")
        evidence = row["evidence"] if isinstance(row["evidence"], list) else []
        yield head
        ended = "" if row["verdict"] in (row["kind"], None) else f"; the turn: {row['verdict']}"
        why = f"{row['reason']} ({row['confidence']}){ended}"
        yield Details({"why": why, "see": short_places(evidence), "try": row["what_to_try"]})


def _minute(moment: object) -> str:
    return words(moment)[: len("2026-11-30 17:57")] + "Z" if moment is not None else "-"


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
