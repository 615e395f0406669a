"""Sessions: all of them, to filter, to sort, and to open one."""

from __future__ import annotations

import polars as pl
import streamlit as st

from analysis import queries
from analysis.counting import counted
from analysis.inert_text import inert
from dashboard import empty_states, filters, links, published, shell
from dashboard.look import VERDICTS, verdict_words

ENTRY_POINTS = ("headless", "acp", "tui", "serve", "sub-agent", "unknown")
# More than anybody scrolls through; beyond them the page says how many it leaves out.
ROWS = 1000

# Word on the page and in the address -> columns, which of them descend.
ORDERS: dict[str, tuple[list[str], list[bool]]] = {
    "worst": (["triage_rank", "worst_rank", "verdict_rank", "started_at"], [False, False, False, True]),
    "newest": (["started_at"], [True]),
    "calls": (["calls", "started_at"], [True, True]),
    "trips": (["trips", "started_at"], [True, True]),
    "collisions": (["collisions", "started_at"], [True, True]),
    "replays": (["replays", "started_at"], [True, True]),
}


def _controls() -> dict[str, object]:
    verdicts_of: list[list[str]] = []
    with st.container(horizontal=True, vertical_alignment="bottom"):
        wanted = st.text_input("Text", key="text", bind="query-params", placeholder="id, folder, model, reason", width=200)
        for label, key in (("Verdict of the last turn", "verdict"), ("Worst verdict", "worst")):
            chosen = st.multiselect(label, list(VERDICTS), key=key, bind="query-params", placeholder="All", width=176)
            verdicts_of.append(chosen)
        entries = st.multiselect("Entry point", ENTRY_POINTS, key="entry", bind="query-params", placeholder="All", width=150)
        st.selectbox("First", list(ORDERS), key="order", bind="query-params", width=120)
        sub_agents = st.checkbox("Sub-agents", key="subagents", bind="query-params")
    verdicts, worst_of = verdicts_of
    return {"text": wanted or "", "verdicts": verdicts, "worst": worst_of, "entry_points": entries, "sub_agents": sub_agents}


def _worst_findings(triage: pl.DataFrame) -> pl.DataFrame:
    """Each session's first row of the triage and where it stands there: an order of our own would be another `worst first` than
    that of `loopscope triage`, and would put a session that looped and yet completed last."""
    worst = triage.unique("session_id", keep="first", maintain_order=True).with_row_index("triage_rank")
    return worst.select("session_id", "triage_rank", "severity", pl.col("kind").alias("finding"))


def _table(sessions: pl.DataFrame) -> None:
    shown = [
        {
            "link": links.address_of_session(row["session_id"]),
            "finding": f"{row['severity']}: {row['finding']}" if row["finding"] else "",
            "verdict": verdict_words(row["verdict"]),
            "started": row["started_at"],
            "reason": inert(row["reason"]),
            "worst": verdict_words(row["worst_verdict"]) if row["worst_verdict"] != row["verdict"] else "",
            "version": inert(row["client_version"] or ""),
            "entry": row["entry_point"],
            "models": inert(", ".join(row["models"])),
            **{name: row[name] for name in ("turns", "calls", "replays", "collisions", "trips")},
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
            "finding": column.TextColumn("worst finding", width=190, help="The first that `loopscope triage` lists of it."),
            "verdict": column.TextColumn("last turn", width=130),
            "worst": column.TextColumn(
                "worse turn before", width=130, help="Where an earlier turn ended worse than the last one."
            ),
            "started": column.DatetimeColumn("started (UTC)", format="YYYY-MM-DD HH:mm", width=130),
            "reason": column.TextColumn("reason", width=430),
        },
    )


shell.draw("Sessions")
given = _controls()
with published.opened(filters.chosen()) as con:
    sessions = queries.frame(con, "sessions_list", **given)
    worst = _worst_findings(queries.frame(con, "triage"))
if sessions.is_empty():
    empty_states.nothing_matches()
    st.stop()
by, descending = ORDERS[st.session_state.order]
sub_agents = sessions.filter(pl.col("kind") != "main").height
st.caption(
    counted(sessions.height - sub_agents, "session")
    + (f", {counted(sub_agents, 'sub-agent')}" if sub_agents else "")
    + (f"; the first {ROWS:,} are listed" if sessions.height > ROWS else "")
)
_table(sessions.join(worst, on="session_id", how="left").sort(by, descending=descending, nulls_last=True).head(ROWS))
