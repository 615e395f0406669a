"""The pages, and links to them that carry the chosen filters along."""

from __future__ import annotations

import re
from urllib.parse import urlencode

import streamlit as st

from dashboard import filters

OVERVIEW = "pages/overview.py"
SESSIONS = "pages/sessions.py"
SESSION = "pages/session.py"
GUARD_LAB = "pages/guard_lab.py"


def to_session(
    session_id: str, label: str | None = None, icon: str = ":material/arrow_forward:", turn_no: int | None = None
) -> None:
    place = session_id if turn_no is None else f"{session_id}:{turn_no}"
    st.page_link(
        SESSION, label=label or short_id(session_id), icon=icon, query_params={**filters.in_address(), "session": place}
    )


def address_of_session(session_id: str) -> str:
    """Relative, for a table's link column: whatever a log calls its session, the link leads to our own page."""
    return "/session?" + urlencode({**filters.in_address(), "session": session_id})


SHOWN_OF_ADDRESS = "session=(.{1,8})"
"""What a table shows of `address_of_session`: the head of the id."""


def short_id(session_id: str) -> str:
    """Enough of an id to tell sessions apart, safe where a label is read as Markdown: letters, digits and dashes only."""
    parent, _, child = session_id.partition("/")
    shown = child.removeprefix("agent-") if child else parent[:8]
    return re.sub(r"[^A-Za-z0-9-]+", "-", shown)[:40] or "session"
