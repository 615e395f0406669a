"""The dashboard: its pages, which are files so that an app test can switch to one.

On them log text is shown with `st.text`, `st.code` or `st.dataframe` alone: everything that reads Markdown would also read
what a log says.
"""

from __future__ import annotations

import streamlit as st

from dashboard.links import GUARD_LAB, OVERVIEW, SESSION, SESSIONS

# No icons here: Streamlit would fetch a page's icon from a font server elsewhere.
st.navigation(
    [
        st.Page(OVERVIEW, title="Overview", default=True),
        st.Page(SESSIONS, title="Sessions"),
        st.Page(SESSION, title="Session"),
        st.Page(GUARD_LAB, title="Guard lab"),
    ]
).run()
