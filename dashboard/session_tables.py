"""The tables of the session page: calls, turns, findings, trips, loop events. One without rows is not drawn."""

from __future__ import annotations

from typing import Any

import polars as pl
import streamlit as st

from analysis.inert_text import inert
from analysis.session_words import coverage_words, model_told_words
from dashboard import call_table
from dashboard.look import verdict_words

LINES = 70
"""Pixels of a row with room for three lines of text: a reason that is cut short explains nothing. In a lower one Streamlit
breaks no lines."""
HEADING, MOST_HEIGHT = 38, 640
LONGEST_DECISION = 82
"""Pixels of `≠ suppress`."""


def _height(rows: int) -> int:
    return min(HEADING + LINES * rows, MOST_HEIGHT)


def _wide(pixels: int) -> Any:
    return st.column_config.TextColumn(width=pixels)


def calls(made: pl.DataFrame, decisions: pl.DataFrame, guards: list[str]) -> None:
    st.subheader("Calls, and what each guard decides", anchor=False)
    if made.is_empty():
        st.text("No calls.")
        return
    st.dataframe(
        call_table.rows(made, decisions, guards),
        hide_index=True,
        height=min(38 + 35 * made.height, 600),
        column_config={
            "call": st.column_config.TextColumn(pinned=True, help="turn.response.call", width=54),
            **{name: _wide(pixels) for name, pixels in (("tool", 134), ("id", 136), ("outcome", 104), ("class", 84))},
            **{guard: _wide(max(LONGEST_DECISION, 26 + 6 * len(guard))) for guard in guards},
            "seconds": st.column_config.NumberColumn(format="%.2f"),
            "arguments": _wide(400),
        },
    )
    st.caption(
        "≠ the guard's first decision in a turn other than what was done. In brackets: after that point, counterfactual, in no "
        "count. Empty: the guard had ended the turn before. Further to the right: arguments, seconds, error, evidence."
    )


def guards(coverage: pl.DataFrame) -> None:
    """What each guard decided, summed over the calls of which that is a fact."""
    if coverage.is_empty():
        return
    st.subheader("Guards", anchor=False)
    rows = [
        {
            "guard": row["guard"] + (", in force" if row["in_force"] else ""),
            "coverage": coverage_words(row["valid_calls"], row["calls"]),
            **{decision: row[decision] for decision in ("execute", "suppress", "trip", "drop")},
        }
        for row in coverage.iter_rows(named=True)
    ]
    st.dataframe(rows, hide_index=True)
    st.caption("Summed up to each turn's first divergence; what comes after it, and what cannot be known, is in no count.")


def turns(taken: pl.DataFrame) -> None:
    st.subheader("Turns", anchor=False)
    rows = [
        {
            "turn": row["turn_no"],
            "verdict": verdict_words(row["verdict"]),
            "reason": inert(row["reason"]),
            "confidence": row["confidence"],
            "looping": inert(row["looping"] or ""),
            "calls": row["calls"],
            "started (UTC)": row["started_at"],
            "model told": model_told_words(row) or "",
            "origin": row["origin"] + (" (copy)" if row["inherited"] else ""),
            "model": inert(row["model"] or ""),
            "guard": row["guard_in_force"],
            "evidence": inert(", ".join(row["evidence"])),
        }
        for row in taken.iter_rows(named=True)
    ]
    st.dataframe(
        rows,
        hide_index=True,
        row_height=LINES,
        height=_height(len(rows)),
        column_config={
            **{
                name: _wide(pixels)
                for name, pixels in (("verdict", 126), ("reason", 330), ("confidence", 86), ("looping", 120))
            },
            "turn": st.column_config.NumberColumn(width=50),
            "calls": st.column_config.NumberColumn(width=54),
            "started (UTC)": st.column_config.DatetimeColumn(format="YYYY-MM-DD HH:mm:ss", width=150),
            "model told": _wide(90),
        },
    )


def findings(found: pl.DataFrame) -> None:
    if found.is_empty():
        return
    st.subheader("Findings", anchor=False)
    wasted = [f"wasted_{what}" for what in ("calls", "seconds", "tokens") if found[f"wasted_{what}"].is_not_null().any()]
    rows = [
        {
            "turn": row["turn_no"],
            "kind": row["kind"],
            "reason": inert(row["reason"]),
            "what to try": inert(row["what_to_try"]),
            "confidence": row["confidence"],
            **{name.replace("_", " "): row[name] for name in wasted},
            "evidence": inert(", ".join(row["evidence"])),
        }
        for row in found.iter_rows(named=True)
    ]
    st.dataframe(
        rows,
        hide_index=True,
        row_height=LINES,
        height=_height(len(rows)),
        placeholder="",
        column_config={
            "turn": st.column_config.NumberColumn(width=50),
            **{
                name: _wide(pixels)
                for name, pixels in (("kind", 130), ("reason", 370), ("what to try", 370), ("confidence", 86))
            },
        },
    )


def trips(tripped: pl.DataFrame) -> None:
    if tripped.is_empty():
        return
    st.subheader("Breaker trips", anchor=False)
    rows = [
        {
            "at": f"{row['turn_no']}.{row['response_no']}",
            "guard": row["guard"] + (", in force" if row["in_force"] else ""),
            "fired on": row["trip_class"] or "unknown",
            "basis": row["basis"],
            "recorded": _yes_no(row["recorded"]),
            "told the user": _yes_no(row["told_user"]),
            "telemetry": row["telemetry"],
            "tool": inert(row["tool"] or ""),
            "provider's id": inert(row["provider_id"] or ""),
        }
        for row in tripped.iter_rows(named=True)
    ]
    st.dataframe(rows, hide_index=True)


def _yes_no(told: bool | None) -> str:
    return "unknown" if told is None else "yes" if told else "no"


def loop_events(events: pl.DataFrame) -> None:
    if events.is_empty():
        return
    st.subheader("Loop events of the client", anchor=False)
    rows = [
        {
            "turn": row["turn_no"],
            "type": inert(row["loop_type"]),
            "explained by": row["explained_by"],
            "model": inert(row["model"] or ""),
            "at (UTC)": row["ts"],
        }
        for row in events.iter_rows(named=True)
    ]
    st.dataframe(rows, hide_index=True)
