"""Links from a session to its sub-agents and forks, and back."""

from __future__ import annotations

import polars as pl
import streamlit as st

from analysis.counting import counted
from dashboard import links
from dashboard.look import badge_colour, of_verdict


def draw(others: pl.DataFrame) -> None:
    if others.is_empty():
        return
    st.subheader("Sub-agents and forks", anchor=False)
    for row in others.iter_rows(named=True):
        with st.container(horizontal=True, vertical_alignment="center"):
            links.to_session(row["session_id"], f"{row['relation']} {links.short_id(row['session_id'])}")
            st.badge(f"{of_verdict(row['verdict']).sign} {row['verdict']}", color=badge_colour(row["verdict"]))
            st.caption(f"{counted(row['turns'], 'turn')}, {counted(row['calls'], 'call')}")
