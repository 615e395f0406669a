"""What a page says when it has nothing to show: what is the matter, and the command or the click that helps."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from analysis.inert_text import inert
from dashboard import filters


def no_database_named() -> None:
    st.info("No store is named. Start the dashboard with this command:", icon=":material/database_off:")
    st.code("loopscope serve", language=None)


def no_store(db: Path) -> None:
    st.info("There is no store yet. Read your logs into it, then reload this page.", icon=":material/database_off:")
    st.code(f"loopscope ingest --db {inert(str(db))}\nloopscope ingest --db {inert(str(db))} PATH", language=None)
    st.caption("Without a path the clients' own folders are read. `loopscope demo` shows everything on recorded sessions.")


def unreadable_store(problem: Exception) -> None:
    st.error("The store cannot be read.", icon=":material/error:")
    st.text(inert(str(problem)))


def empty_store(db: Path) -> None:
    st.info("The store holds no session. Name the folder of your logs, then reload this page.", icon=":material/inbox:")
    st.code(f"loopscope ingest --db {inert(str(db))} PATH\nloopscope doctor --db {inert(str(db))}", language=None)
    st.caption("`doctor` says which sources were found and what each gave.")


def nothing_matches() -> None:
    st.info("No session matches the filters.", icon=":material/filter_alt_off:")
    if filters.in_address():
        st.button("Clear the filters", on_click=filters.clear)


def unknown_session(session_id: str, hidden_by_filters: bool) -> None:
    if hidden_by_filters:
        st.info("The filters hide this session.", icon=":material/filter_alt_off:")
        st.text(inert(session_id))
        st.button("Clear the filters", on_click=filters.clear)
        return
    st.info("The store knows no session of this id.", icon=":material/search_off:")
    st.text(inert(session_id))
    st.caption("It may not be read yet: run `loopscope ingest PATH` with the folder that holds its log, then reload.")
