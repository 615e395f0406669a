"""The filters that all pages share, and their life in the address.

An address that is opened sets them and a change is written back, so that a pasted link opens the same view, also where the
store has no such model: a filter that silently fell away would show other numbers than the sender saw. Streamlit's own
binding of widgets to the address is not used for them, because it loses them on some ways from page to page.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, time

import streamlit as st

from analysis.periods import end_of
from analysis.reading import Filters

DATES = ("since", "until")
CHOICES = ("model", "project", "client", "version")
NAMES = (*DATES, *CHOICES)

# In the session's state: the values (a widget's own goes with its page), and what the address held when it was last looked at.
_KEPT = "filters"
_SEEN = "filters of the address"


def draw(options: Mapping[str, Sequence[str]]) -> None:
    """`options`: what the store holds for each of CHOICES."""
    state = st.session_state
    _take_over_address()
    kept = state.setdefault(_KEPT, {})
    for name in NAMES:
        # Set even to what it is: on another page it is another widget, which only then begins with this value.
        state[name] = state.get(name, kept.get(name))
    # Streamlit's own bounds are ten years around today, and a day beyond them would end the page.
    for name, help_text in (("since", "First day, UTC"), ("until", "Last day, UTC")):
        st.date_input(
            name.capitalize(),
            value=None,
            min_value=date.min,
            max_value=date.max,
            key=name,
            format="YYYY-MM-DD",
            help=help_text,
        )
    for name in CHOICES:
        known = options.get(name, ())
        asked = state[name]
        st.selectbox(
            name.capitalize(),
            [*known, asked] if asked and asked not in known else known,
            index=None,
            key=name,
            placeholder="All",
            accept_new_options=True,
        )
    state[_KEPT] = {name: state[name] for name in NAMES}
    _write_address()


def chosen() -> Filters:
    state = st.session_state
    return Filters(
        since=_midnight(state.get("since")),
        until=end_of(state.until) if state.get("until") else None,
        **{name: state.get(name) or None for name in CHOICES},
    )


def in_address() -> dict[str, str]:
    """The chosen filters as query parameters, for links to other pages."""
    return {name: str(st.session_state[name]) for name in NAMES if st.session_state.get(name)}


def clear() -> None:
    """For a button's callback: a widget's value cannot be changed after it was drawn."""
    for name in NAMES:
        st.session_state[name] = None


def _take_over_address() -> None:
    """Where the address holds other filters than before: it was opened, or the browser went back to it. One without any is
    what Streamlit leaves when the page is changed, and says nothing.
    """
    state = st.session_state
    held = {name: st.query_params[name] for name in NAMES if name in st.query_params}
    if held and held != state.get(_SEEN):
        for name in NAMES:
            state[name] = _day(held.get(name)) if name in DATES else held.get(name) or None


def _write_address() -> None:
    held = in_address()
    for name in NAMES:
        if name in held:
            st.query_params[name] = held[name]
        elif name in st.query_params:
            del st.query_params[name]
    st.session_state[_SEEN] = held


def _day(text: str | None) -> date | None:
    try:
        return date.fromisoformat(text) if text else None
    except ValueError:
        return None


def _midnight(day: date | None) -> datetime | None:
    return datetime.combine(day, time.min, UTC) if day is not None else None
