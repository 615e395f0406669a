"""The head of the session page: which session, how it ended and why, with the lines that prove it and what to try."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl
import streamlit as st

from analysis import queries
from analysis.counting import counted
from analysis.inert_text import inert
from analysis.session_words import duplicates_words
from analysis.typed_place import meant
from dashboard import empty_states, filters, flow, links, session_cards
from dashboard.look import badge_colour, of_verdict

if TYPE_CHECKING:
    import duckdb

EVIDENCE_SHOWN = 5


class Asked(NamedTuple):
    session: dict[str, Any]
    """Its row."""
    turn_no: int | None
    """Of `SESSION:TURN`."""


def asked_for(con: duckdb.DuckDBPyConnection) -> Asked:
    """What the address names; an id may be shortened while it means one session. Else stops the page."""
    text = (
        st.text_input("Session", key="session", bind="query-params", placeholder="id or its beginning, or SESSION:TURN") or ""
    )
    if not text:
        st.info("Type a session's id, or choose one from the list.", icon=":material/timeline:")
        st.page_link(
            links.SESSIONS,
            label="All sessions, worst first",
            icon=":material/arrow_forward:",
            query_params=filters.in_address(),
        )
        st.stop()
    _, found, turn_no = meant(text, lambda beginning: _begin_with(con, beginning))
    if len(found) > 1:
        st.info(f"{counted(len(found), 'session')} begin with this. Which one?", icon=":material/alt_route:")
        for session_id in found[:20]:
            links.to_session(session_id, turn_no=turn_no)
        st.stop()
    rows = queries.run(con, "session_header", session=found[0]).dicts() if found else []
    if found and not rows and (cards := session_cards.read(con, found[0])):
        st.text(f"{inert(found[0])}: no log of it, only what an interface was told.")
        session_cards.draw(cards)
        st.stop()
    if not rows:
        empty_states.unknown_session(text, hidden_by_filters=bool(found))
        st.stop()
    return Asked(rows[0], turn_no)


def _begin_with(con: duckdb.DuckDBPyConnection, beginning: str) -> list[str]:
    return [str(row[0]) for row in queries.run(con, "session_resolve", session=beginning).rows]


def draw(session: dict[str, Any], turns: pl.DataFrame, findings: pl.DataFrame) -> None:
    """The last turn's verdict is the session's; where an earlier turn went worse, its worst finding follows."""
    both = flow.side_by_side("head")
    with both.container():
        with st.container(horizontal=True, gap="small"):
            st.badge(f"{of_verdict(session['verdict']).sign} {session['verdict']}", color=badge_colour(session["verdict"]))
            if session["worst_verdict"] != session["verdict"]:
                worst = session["worst_verdict"]
                st.badge(f"{of_verdict(worst).sign} worst turn: {worst}", color=badge_colour(worst))
            st.caption(f"confidence: {session['confidence']}")
        st.text(_why(session, turns, findings))
    with both.container():
        st.text(_about(session))
    _evidence(turns, findings)


def _why(session: dict[str, Any], turns: pl.DataFrame, findings: pl.DataFrame) -> str:
    last = turns["turn_no"].max()
    advice = findings.filter(pl.col("turn_no") == last)["what_to_try"].unique(maintain_order=True)
    lines = [session["reason"], *(f"→ {text}" for text in advice)]
    if findings.height and findings["turn_no"][0] != last:
        turn_no, reason, what_to_try = findings.select("turn_no", "reason", "what_to_try").row(0)
        lines += [f"{f'turn {turn_no}' if turn_no else 'session'}: {reason}", f"→ {what_to_try}"]
    return "\n".join(map(inert, lines))


def _about(session: dict[str, Any]) -> str:
    detection = f", its loop detection {session['loop_detection']}" if session["loop_detection"] != "unknown" else ""
    lines = [
        ", ".join(session["models"]) or "unknown model",
        f"{session['client']} {session['client_version'] or '(version unknown)'}, {session['entry_point']}{detection}",
        f"guard in force: {session['guard_in_force']}",
        _counts(session),
        duplicates_words(session["same_response_duplicates"]),
        _period(session),
        session["cwd"] or "folder unknown",
        session["session_id"],
    ]
    return "\n".join(map(inert, lines))


def _counts(session: dict[str, Any]) -> str:
    turns, made, *kinds = (counted(session[f"{noun}s"], noun) for noun in ("turn", "call", "replay", "collision", "trip"))
    return f"{turns}, {made}: {', '.join(kinds)}"


def _period(session: dict[str, Any]) -> str:
    begin, end = session["started_at"], session["ended_at"]
    if begin is None:
        return "time unknown"
    same_day = end is not None and begin.date() == end.date()
    return f"{begin:%Y-%m-%d %H:%M:%S}" + (f" to {end:{'' if same_day else '%Y-%m-%d '}%H:%M:%S}" if end else "") + " UTC"


def _evidence(turns: pl.DataFrame, findings: pl.DataFrame) -> None:
    """Of the last turn's verdict and of the worst finding."""
    shown = [part["evidence"][at].to_list() for part, at in ((turns, -1), (findings, 0)) if part.height]
    lines = list(dict.fromkeys(line for evidence in shown for line in evidence))
    if lines:
        st.caption("Evidence: the lines of the log that show this, as FILE:LINE")
        left_out = f"\n… and {len(lines) - EVIDENCE_SHOWN} more" if len(lines) > EVIDENCE_SHOWN else ""
        st.code("\n".join(map(inert, lines[:EVIDENCE_SHOWN])) + left_out, language=None, wrap_lines=True)
