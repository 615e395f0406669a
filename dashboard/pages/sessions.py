"""Sessions: all of them, to filter, to sort, and to open one."""

from __future__ import annotations

import polars as pl
import streamlit as st

from analysis import queries
from analysis.inert_text import inert
from dashboard import empty_states, filters, links, published, shell
from dashboard.look import VERDICTS, verdict_words

ENTRY_POINTS = ("headless", "acp", "tui", "serve", "sub-agent", "unknown")
# More than anybody scrolls through; beyond them the page says how many it leaves out.
ROWS = 1000

# Word on the page and in the address -> columns, which of them descend.
ORDERS: dict[str, tuple[list[str], list[bool]]] = {
    "worst": (["worst_rank", "verdict_rank", "started_at"], [False, False, True]),
    "newest": (["started_at"], [True]),
    "calls": (["calls", "started_at"], [True, True]),
    "trips": (["trips", "started_at"], [True, True]),
    "collisions": (["collisions", "started_at"], [True, True]),
    "replays": (["replays", "started_at"], [True, True]),
}


def _controls() -> dict[str, object]:
    text, verdict, worst, entry_point, order, kind = st.columns([4, 3, 3, 3, 2.2, 2.3], vertical_alignment="bottom")
    with text:
        wanted = st.text_input("Text", key="text", bind="query-params", placeholder="id, folder, model, reason")
    with verdict:
        verdicts = st.multiselect(
            "Verdict of the last turn", list(VERDICTS), key="verdict", bind="query-params", placeholder="All"
        )
    with worst:
        worst_of = st.multiselect("Worst verdict", list(VERDICTS), key="worst", bind="query-params", placeholder="All")
    with entry_point:
        entries = st.multiselect("Entry point", ENTRY_POINTS, key="entry", bind="query-params", placeholder="All")
    with order:
        st.selectbox("First", list(ORDERS), key="order", bind="query-params")
    with kind:
        sub_agents = st.checkbox("Sub-agents", key="subagents", bind="query-params")
    return {"text": wanted or "", "verdicts": verdicts, "worst": worst_of, "entry_points": entries, "sub_agents": sub_agents}


def _table(sessions: pl.DataFrame) -> None:
    shown = [
        {
            "link": links.address_of_session(row["session_id"]),
            "verdict": verdict_words(row["verdict"]),
            "worst": verdict_words(row["worst_verdict"]),
            "models": inert(", ".join(row["models"])),
            "version": inert(row["client_version"] or ""),
            "entry": row["entry_point"],
            "started": row["started_at"],
            **{name: row[name] for name in ("turns", "calls", "replays", "collisions", "trips")},
            "reason": inert(row["reason"]),
            "guard": row["guard_in_force"],
            "id": inert(row["session_id"]),
            "folder": inert(row["cwd"] or ""),
        }
        for row in sessions.iter_rows(named=True)
    ]
    column = st.column_config
    st.dataframe(
        shown,
        hide_index=True,
        height=min(38 + 35 * len(shown), 720),
        column_config={
            "link": column.LinkColumn("session", display_text=links.SHOWN_OF_ADDRESS, pinned=True, width=90),
            "verdict": column.TextColumn("last turn", width=130),
            "worst": column.TextColumn("worst turn", width=130),
            "started": column.DatetimeColumn("started (UTC)", format="YYYY-MM-DD HH:mm"),
            "reason": column.TextColumn("reason", width="large"),
        },
    )


shell.draw()
given = _controls()
with published.opened(filters.chosen()) as con:
    sessions = queries.frame(con, "sessions_list", **given)
if sessions.is_empty():
    empty_states.nothing_matches()
    st.stop()
by, descending = ORDERS[st.session_state.order]
sub_agents = sessions.filter(pl.col("kind") != "main").height
st.caption(
    f"{sessions.height - sub_agents:,} sessions"
    + (f", {sub_agents:,} sub-agents" if sub_agents else "")
    + (f"; the first {ROWS:,} are listed" if sessions.height > ROWS else "")
)
_table(sessions.sort(by, descending=descending, nulls_last=True).head(ROWS))
