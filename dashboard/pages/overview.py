"""Overview: what to look at first, then how much of it there is, then how far the numbers can be trusted."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import polars as pl
import streamlit as st

from analysis import queries
from analysis.counting import counted
from analysis.inert_text import inert, shortened
from analysis.session_words import coverage_words
from dashboard import empty_states, filters, flow, links, published, shell
from dashboard.charts import chart
from dashboard.figures.hangs import silent_hangs_per_day
from dashboard.figures.trips import trips_by_model
from dashboard.figures.verdicts import sessions_by_verdict
from dashboard.look import badge_colour, of_verdict

LOOK_FIRST = 4


def _headline(numbers: dict[str, Any]) -> None:
    flow.numbers(
        [
            (
                "Silent hangs",
                f"{numbers['silent_hangs']:,}",
                f"turns, in {counted(numbers['silent_hang_sessions'], 'session')}",
            ),
            ("Looping turns", f"{numbers['looping_turns']:,}", f"of {counted(numbers['turns'], 'turn')}"),
            (
                "Breaker trips",
                f"{numbers['trips']:,}",
                f"by the guard in force; {coverage_words(numbers['valid_calls'], numbers['calls'])}",
            ),
            ("False alarms", f"{numbers['collision_trips']:,}", "of these trips, on fresh calls"),
            ("Sessions", f"{numbers['sessions']:,}", f"and {counted(numbers['sub_agents'], 'sub-agent')}"),
            (
                "Calls",
                f"{numbers['calls']:,}",
                f"{counted(numbers['replays'], 'replay')}, {counted(numbers['collisions'], 'collision')}",
            ),
        ]
    )


def _look_first(triage: pl.DataFrame, turns: int) -> None:
    st.subheader("Look at these first", anchor=False)
    worst = triage.unique("session_id", keep="first", maintain_order=True)
    if worst.is_empty():
        st.success(
            f"Nothing is stuck, looping or killed by a guard: {counted(turns, 'turn')} looked at.", icon=":material/check:"
        )
        return
    for row in worst.head(LOOK_FIRST).iter_rows(named=True):
        with st.container(border=True, gap="small"):
            with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
                st.badge(f"{of_verdict(row['verdict']).sign} {row['verdict']}", color=badge_colour(row["verdict"]))
                links.to_session(row["session_id"])
                st.text(
                    f"{shortened(row['model'] or 'unknown model', 32)}, "
                    f"{shortened(row['client_version'] or 'version unknown', 20)}, {row['entry_point']}",
                    width="content",
                )
                st.caption(f"{row['confidence']}{_when(row['ended_at'])}", width="content")
            st.text(f"{inert(row['reason'])}\n→ {inert(row['what_to_try'])}")
    if worst.height > LOOK_FIRST:
        st.page_link(
            links.SESSIONS,
            label=f"{worst.height - LOOK_FIRST:,} more have findings: all sessions, worst first",
            icon=":material/arrow_forward:",
            query_params={**filters.in_address(), **_with_sub_agents(worst)},
        )


def _with_sub_agents(worst: pl.DataFrame) -> dict[str, str]:
    """The list leaves them out unless asked, and would then be shorter than the number that leads there."""
    return {"subagents": "true"} if (worst["session_kind"] == "sub-agent").any() else {}


def _when(ended_at: datetime | None) -> str:
    return f", {ended_at:%d %b %H:%M}" if ended_at is not None else ""


def _coverage(numbers: dict[str, Any]) -> None:
    st.subheader("How far these numbers reach", anchor=False)
    calls, sessions, sources = numbers["calls"], numbers["sessions"], numbers["sources"]
    flow.numbers(
        [
            (
                "Calls with whole arguments",
                f"{numbers['whole_args']:,} of {calls:,}",
                f"{numbers['unknown_class']:,} of unknown class",
            ),
            ("Sessions with known guard", f"{sessions - numbers['unknown_guard']:,} of {sessions:,}", "sub-agents included"),
            (
                "… and entry point",
                f"{sessions - numbers['unknown_entry_point']:,} of {sessions:,}",
                "unknown is judged as headless",
            ),
            (
                "Sources without problems",
                f"{sources - numbers['sources_with_problems']:,} of {sources:,}",
                f"{numbers['sources_not_read']:,} gone, skipped or unreadable; see `loopscope doctor`",
            ),
        ],
        width=236,
    )


shell.draw("Overview")
with published.opened(filters.chosen()) as con:
    headline: dict[str, Any] = queries.run(con, "overview_headline").dicts()[0]
    coverage: dict[str, Any] = queries.run(con, "overview_coverage").dicts()[0]
    verdicts = queries.frame(con, "overview_verdicts")
    trips = queries.frame(con, "overview_trips")
    days = queries.frame(con, "overview_hangs")
    triage = queries.frame(con, "triage")

if not coverage["sessions"]:
    empty_states.nothing_matches()
    st.stop()
_headline(headline)
_look_first(triage, headline["turns"])
with flow.side_by_side("counts"):
    chart(sessions_by_verdict(verdicts), "verdicts")
    chart(trips_by_model(trips), "trips")
if not days.is_empty():
    chart(silent_hangs_per_day(days), "hangs")
_coverage(coverage)
