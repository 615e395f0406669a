"""`loopscope cards`: what an interface showed of the tool calls, and what would have mended it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import click

from cli import output
from cli.exit_codes import ExitCode
from cli.layout import Details, Paragraph, Part, aligned, write_parts
from cli.places import short_place
from cli.session_ids import Shortener
from cli.table import Table
from cli.view import View, reading_options

_HEADINGS = {"swallowed_calls": "calls swallowed", "run_again": "runs again", "interface_no": "interface"}
_REMEDY_COLUMNS = ("session_id", "interface_no", "remedy", "cards", "waiting", "wrong", "swallowed_calls", "run_again", "loses")


search_option = click.option(
    "--search",
    type=click.Choice(("reverse", "forward")),
    default="reverse",
    show_default=True,
    help="Of several cards with one id an update goes to the last one (reverse) or to the first one (forward).",
)


@click.command(short_help="Tool cards that are double or stuck, and what would help.")
@search_option
@click.option("--all", "every", is_flag=True, help="Every card.")
@click.option("--remedies", is_flag=True, help="What each remedy would have shown, and what it loses.")
@click.option("--repeats", is_flag=True, help="The same action put to a person again under another id.")
@reading_options
def cards(view: View, search: str, every: bool, remedies: bool, repeats: bool) -> int:
    """The tool cards that share an id or wait for ever, as an interface shows them that adds a card at every start.

    Known from wire logs of the Agent Client Protocol, event streams of `qwen serve` and event logs of a desktop client;
    docs/card-events.md in the source describes them and the remedies.
    """
    from analysis import queries

    if remedies and repeats:
        raise click.UsageError("--remedies and --repeats are two lists; ask for one.")
    with view.open() as con:
        if repeats:
            rows = queries.run(con, "cards_repeats")
        else:
            rows = queries.run(con, "cards_remedies" if remedies else "cards_list", search=search, every=every)
        shortener = Shortener.of_store(con)
        code = ExitCode.OK
        if not rows.rows:
            nothing = "No action was put to a person twice" if repeats else "No card is double or stuck"
            code = view.explain_empty(con, f"{nothing} in what was read. `loopscope doctor` says which formats were read.")
    found = rows.dicts()
    if view.format == "json":
        output.write_json(found)
    elif view.format == "csv":
        output.write_csv(rows.columns, found)
    elif remedies and found:
        short = [{**row, "session_id": shortener.short(str(row["session_id"]))} for row in found]
        write_parts([Table(_REMEDY_COLUMNS, short, _HEADINGS, fold=("loses",))])
    elif repeats:
        write_parts(_repeats(found, shortener))
    else:
        write_parts(_cards(found, shortener))
    return code


def _cards(found: Sequence[Mapping[str, Any]], shortener: Shortener) -> Iterator[Part]:
    heads = [
        (
            shortener.short(str(row["session_id"])),
            f"card {row['card_no']}",
            "(no id)" if row["card_id"] is None else repr(row["card_id"]) if not row["card_id"] else row["card_id"],
            row["tool"],
            row["state"],
            f"{row['result_lines']} lines",
            row["cause"],
        )
        for row in found
    ]
    for row, head in zip(found, aligned(heads), strict=True):
        head.style = "red" if row["is_stuck"] else ""
        yield head
        named = {"why": row["reason"], "cause": _cause(row), "ends right under": ", ".join(row["fixed_by"])}
        place = short_place(f"{row['source_path']}:{row['source_line']}")
        yield Details({**{name: told for name, told in named.items() if told}, "see": place})


def _cause(row: Mapping[str, Any]) -> str | None:
    if row["cause"] is None:
        return None
    of_id = (
        f"{row['nth_of_id']} of {row['cards_of_id']} cards of this id" if row["cards_of_id"] > 1 else "the only card of its id"
    )
    return f"{row['cause']} ({row['cause_confidence']}); {of_id}"


def _repeats(found: Sequence[Mapping[str, Any]], shortener: Shortener) -> Iterator[Part]:
    for row in found:
        turn = f"turn {row['turn_no']}" if row["turn_no"] is not None else "session"
        yield Paragraph(f"{shortener.short(str(row['session_id']))}  {turn}  {row['reason']}")
        yield Details({"see": ", ".join(map(short_place, row["evidence"])), "try": row["what_to_try"]})
