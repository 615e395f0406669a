"""`loopscope show`: one session, turn by turn, call by call."""

from __future__ import annotations

import click

from cli import output
from cli.commands.cards import search_option
from cli.exit_codes import ExitCode
from cli.layout import write_parts
from cli.session_ids import resolve_place
from cli.view import View, reading_options
from cli.words import words


@click.command(short_help="One session, call by call, with every guard's decision.")
@click.argument("place", metavar="SESSION[:TURN]")
@search_option
@reading_options
def show(view: View, place: str, search: str) -> int:
    """One session, turn by turn, call by call, with every guard's decision and the evidence.

    SESSION is an id or the beginning of one; with TURN, or a call's place as other commands print it, that turn alone. A
    decision with * is counterfactual: that guard would have changed the history before it. JSON is one object with all of it
    nested; CSV is the calls alone.
    """
    from cli import session_page, session_story

    with view.open() as con:
        found, turn_no = resolve_place(con, place)
        story = session_story.tell(con, found, search)
        if story is not None and turn_no is not None:
            story["turns"] = [turn for turn in story["turns"] if turn["turn_no"] == turn_no]
            story = story if story["turns"] else None
        if story is None:
            missing = "turn" if turn_no is None else f"turn {turn_no}"
            passing = " that passes the filters" if view.filters.given() else ""
            view.explain_empty(con, f"Session {words(found)} has no {missing}{passing}.")
    if view.format == "json":
        output.write_json([story] if story else [])
    elif view.format == "csv":
        calls = session_story.calls_of(story) if story else []
        output.write_csv(list(calls[0]) if calls else [], calls)
    elif story:
        write_parts(session_page.draw(story))
    return ExitCode.OK if story else ExitCode.NO_DATA
