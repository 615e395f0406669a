"""The filters that all pages share, and their life in the address.

The widgets are bound to the query string: an address that is opened sets them, a change is written back, and because they are
drawn by `app.py` and not by a page they stay when the page changes. A pasted link therefore opens the same view, also where
the store has no such model (the list takes values of its own: a filter that silently fell away would show other numbers than
the sender saw).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

import streamlit as st

from analysis.reading import Filters

DATES = ("since", "until")
CHOICES = ("model", "project", "client", "version")


def draw(options: Mapping[str, Sequence[str]]) -> None:
    """`options`: what the store holds for each of CHOICES."""
    st.date_input(
        "Since",
        value=None,
        key="since",
        bind="query-params",
        persist_state="session",
        format="YYYY-MM-DD",
        help="First day, UTC",
    )
    st.date_input(
        "Until",
        value=None,
        key="until",
        bind="query-params",
        persist_state="session",
        format="YYYY-MM-DD",
        help="Last day, UTC",
    )
    for name in CHOICES:
        asked = st.session_state.get(name) or st.query_params.get(name)
        known = options.get(name, ())
        st.selectbox(
            name.capitalize(),
            [*known, asked] if asked and asked not in known else known,
            index=None,
            key=name,
            bind="query-params",
            persist_state="session",
            placeholder="All",
            accept_new_options=True,
        )


def chosen() -> Filters:
    state = st.session_state
    return Filters(
        since=_midnight(state.get("since")),
        until=_midnight(state.get("until"), days=1),
        **{name: state.get(name) or None for name in CHOICES},
    )


def in_address() -> dict[str, str]:
    """The chosen filters as query parameters, for links to other pages."""
    values: dict[str, Any] = {name: st.session_state.get(name) for name in (*DATES, *CHOICES)}
    return {name: str(value) for name, value in values.items() if value}


def clear() -> None:
    """For a button's callback: a widget's value cannot be changed after it was drawn."""
    for name in (*DATES, *CHOICES):
        st.session_state[name] = None


def _midnight(day: date | None, days: int = 0) -> datetime | None:
    return datetime.combine(day, time.min, UTC) + timedelta(days=days) if day is not None else None
