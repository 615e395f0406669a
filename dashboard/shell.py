"""What stands on every page: the store's label, its age, the filters. Each page draws it first.

It is the pages that draw it and not `app.py`: with a folder named `pages` beside the app, Streamlit may run a page without the
app (a link opened before anything else, an app test), and that page must have its filters and the demo's label all the same.
"""

from __future__ import annotations

import streamlit as st

from dashboard import empty_states, filters, flow, masthead, published

SIDEBAR = 240


def draw(title: str) -> None:
    """Stops the page where there is no store or no session in it. `title`: of the browser's tab, of which there may be many."""
    st.set_page_config(f"{title} · loopscope", page_icon="🔁", layout="wide", initial_sidebar_state=SIDEBAR)
    st.html(flow.STYLE)
    store = published.about()
    masthead.draw(store.label)
    with st.sidebar:
        filters.draw(store.options)
        masthead.draw_age(store.published_at)
    if not store.sessions:
        empty_states.empty_store(published.database())
        st.stop()
