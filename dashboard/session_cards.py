"""The tool cards of a session: which are double or stuck, and what each remedy would have shown instead."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl
import streamlit as st

from analysis import queries
from analysis.counting import counted
from analysis.inert_text import inert
from analysis.session_words import is_odd_card, trip_of_card_words
from dashboard.session_tables import LINES

if TYPE_CHECKING:
    import duckdb

AS_IT_IS = "none"
"""Stands among the remedies to compare them with."""
SEARCHES = {"reverse": "finds the last one of the id", "forward": "finds the first one of the id"}


class Shown(NamedTuple):
    """Under one search."""

    cards: pl.DataFrame
    remedies: pl.DataFrame


def read(con: duckdb.DuckDBPyConnection, session_id: str) -> dict[str, Shown]:
    """Empty where no interface told of this session's calls."""
    names = ("session_cards", "session_card_remedies")
    shown = {
        search: Shown(*(queries.frame(con, name, session=session_id, search=search) for name in names)) for search in SEARCHES
    }
    return {search: part for search, part in shown.items() if part.cards.height}


def draw(shown: dict[str, Shown]) -> None:
    if not shown:
        return
    st.subheader("Tool cards", anchor=False)
    rule, which = st.columns(2, vertical_alignment="bottom")
    with rule:
        search = st.radio(
            "How the interface looks for the card of an update",
            list(shown),
            key="search",
            bind="query-params",  # which writes what is shown, so no other words for the options
            captions=[SEARCHES[search] for search in shown],
            horizontal=True,
        )
    with which:
        every = st.checkbox("Every card", key="cards", bind="query-params")
    cards, remedies = shown[search]
    odd = [row for row in cards.iter_rows(named=True) if is_odd_card(row)]
    stuck = sum(row["is_stuck"] for row in odd)
    st.caption(f"{counted(cards.height, 'card')}: {len(odd):,} double or stuck, {stuck:,} stuck.")
    listed = list(cards.iter_rows(named=True)) if every else odd
    if listed:
        st.dataframe(
            [_card(row) for row in listed],
            hide_index=True,
            row_height=LINES,
            column_config={"card": st.column_config.NumberColumn(width=50), "why": st.column_config.TextColumn(width=300)},
        )
    if odd:
        _remedies(remedies)


def _card(row: dict[str, Any]) -> dict[str, object]:
    of_id = f"{row['nth_of_id']} of {row['cards_of_id']}" if row["cards_of_id"] > 1 else ""
    return {
        "card": row["card_no"],
        "id": "none" if row["card_id"] is None else inert(row["card_id"]),
        "of its id": of_id,
        "tool": inert(row["tool"] or ""),
        "state": inert(row["state"]) + (", stuck" if row["is_stuck"] else ""),
        "lines": row["result_lines"],
        "cause": row["cause"] or "",
        "left by": trip_of_card_words(row) or "",
        "why": inert(row["reason"] or ""),
        "ends right under": ", ".join(row["fixed_by"]),
        "evidence": f"{inert(row['source_path'])}:{row['source_line']}",
    }


def _remedies(remedies: pl.DataFrame) -> None:
    """Side by side, each interface's in a row of its own."""
    st.text("What each remedy would have shown, and what it loses")
    several = remedies["interface_no"].n_unique() > 1
    st.dataframe(
        [
            {
                **({"interface": row["interface_no"]} if several else {}),
                "remedy": row["remedy"],
                "cards": row["cards"],
                "waiting": row["waiting"],
                "wrong": row["wrong"],
                "calls swallowed": row["swallowed_calls"],
                "run again": row["run_again"],
                "loses": "" if row["remedy"] == AS_IT_IS else inert(row["loses"] or "nothing"),
                "does": inert(row["about"]),
            }
            for row in remedies.iter_rows(named=True)
        ],
        hide_index=True,
        row_height=LINES,
        column_config={"loses": st.column_config.TextColumn(width=250), "does": st.column_config.TextColumn(width=300)},
    )
