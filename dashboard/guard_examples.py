"""Calls on which two guards differ, worst first: one of them beside the call it is compared with, key by key."""

from __future__ import annotations

from typing import Any

import polars as pl
import streamlit as st

from analysis.inert_text import inert
from dashboard import args_compare, args_table, links


def draw(examples: pl.DataFrame, base: str, candidate: str) -> None:
    st.subheader("Examples, worst first", anchor=False)
    if examples.is_empty():
        st.text("The two decide alike wherever history can tell.")
        return
    rows = {row["call"]: row for row in examples.iter_rows(named=True)}
    st.dataframe(
        [
            {
                "call": _short_place(row["call"]),
                "base": row["base_decision"],
                "candidate": row["candidate_decision"],
                "class": row["class"],
                "changes": ", ".join(row["changes"]),
                "model": inert(row["model"] or ""),
                "version": inert(row["version"] or ""),
                "entry point": row["entry_point"],
                "tool": inert(row["tool"]),
                "note": inert(row["class_reason"] or ""),
            }
            for row in rows.values()
        ],
        hide_index=True,
        height=min(38 + 35 * len(rows), 320),
    )
    call = st.selectbox("Look at", list(rows), key="example", bind="query-params", format_func=inert)
    row = rows[call]
    _compared(row)
    st.text(
        f"{inert(base)}: {row['base_decision']}, first divergence in this turn {_or_none(row['base_divergence'])}\n"
        f"{inert(candidate)}: {row['candidate_decision']}, first divergence in this turn "
        f"{_or_none(row['candidate_divergence'])}\n"
        f"{inert(row['evidence'])}"
    )
    links.to_session(row["call"].rpartition(":")[0], label="Open the session")


def _short_place(call: str) -> str:
    session_id, _, place = call.rpartition(":")
    return f"{links.short_id(session_id)}:{place}"


def _or_none(place: str | None) -> str:
    return f"at {place}" if place is not None else "none"


def _compared(row: dict[str, Any]) -> None:
    if row["earlier_call"] is None:
        st.code(inert(f"{row['tool']} {row['args_json']}"), language=None, wrap_lines=True)
        return
    names = (f"first under the id: {inert(row['earlier_tool'])}", f"this call: {inert(row['tool'])}")
    differences = args_compare.compared(row["earlier_args_json"], row["args_json"])
    if differences is None:
        for column, name, text in zip(st.columns(2), names, (row["earlier_args_json"], row["args_json"]), strict=True):
            with column:
                st.text(name)
                st.code(inert(text), language=None, wrap_lines=True)
        return
    args_table.draw(differences, names)
