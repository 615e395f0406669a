"""Session: how it ended and why, its calls one by one, what each guard would have done, and the lines that prove it."""

from __future__ import annotations

import polars as pl
import streamlit as st

from analysis import queries
from dashboard import collisions, filters, links, published, relatives, session_cards, session_head, session_tables, shell
from dashboard.charts import chart
from dashboard.figures.timeline import session_timeline

# Lanes of the timeline that still read at a glance; a longer session is leafed through.
TURNS_AT_ONCE = 20


def _leaf(turns: pl.DataFrame, worst_verdict: str) -> pl.DataFrame:
    """The turns shown; of a long session at first those around the one that its worst verdict comes from."""
    leaves = -(-turns.height // TURNS_AT_ONCE)
    if leaves <= 1:
        return turns
    worst = next((i for i, verdict in enumerate(turns["verdict"]) if verdict == worst_verdict), 0)
    leaf = st.pagination(leaves, default=worst // TURNS_AT_ONCE + 1, key="leaf", bind="query-params")
    return turns.slice((leaf - 1) * TURNS_AT_ONCE, TURNS_AT_ONCE)


def _one_turn(session_id: str, turns: pl.DataFrame, turn_no: int | None) -> pl.DataFrame | None:
    """The one that was asked for, where there is it; the way back to all of them."""
    if turn_no is None:
        return None
    one = turns.filter(pl.col("turn_no") == turn_no)
    if one.is_empty():
        st.info(f"The session has no turn {turn_no}; these are all.", icon=":material/search_off:")
        return None
    with st.container(horizontal=True, vertical_alignment="center"):
        st.text(
            f"Turn {turn_no} of {turns.height}: the timeline, the calls and the turns below show it alone.", width="content"
        )
        links.to_session(session_id, label="All turns")
    return one


shell.draw("Session")
with published.opened(filters.chosen()) as con:
    session, turn_no = session_head.asked_for(con)
    names = (
        *("turns", "responses", "calls", "decisions", "trips", "loop_events", "findings"),
        *("relatives", "collisions", "coverage"),
    )
    parts = {name: queries.frame(con, f"session_{name}", session=session["session_id"]) for name in names}
    cards = session_cards.read(con, session["session_id"])
    guards = [str(guard) for (guard,) in con.execute("SELECT guard FROM guards").fetchall()]

session_head.draw(session, parts["turns"], parts["findings"])
turns = _one_turn(session["session_id"], parts["turns"], turn_no)
if turns is None:
    turns = _leaf(parts["turns"], session["worst_verdict"])
shown = {
    name: part.join(turns.select("turn_no"), on="turn_no", how="semi")
    for name, part in parts.items()
    if name not in ("relatives", "coverage")
}
in_force = shown["trips"].filter(pl.col("in_force"))
chart(session_timeline(turns, shown["responses"], shown["calls"], in_force), "timeline")
st.caption("In a mark: R replay, C collision (a known id, another call), S same id twice in a response, N no id, ? unknown.")
session_tables.calls(shown["calls"], shown["decisions"], guards)
session_tables.guards(parts["coverage"])
collisions.draw(parts["collisions"], parts["calls"])
session_tables.turns(turns)
session_tables.findings(parts["findings"])
session_tables.trips(parts["trips"])
session_cards.draw(cards)
session_tables.loop_events(parts["loop_events"])
relatives.draw(parts["relatives"])
