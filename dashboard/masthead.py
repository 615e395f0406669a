"""What every page says of the store itself: its label, where it has one, and how old it is."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import streamlit as st

from analysis.inert_text import inert


def draw(label: str | None) -> None:
    """A store with a label does not hold what happened (the demo's times are shifted), and no page may look as if it did."""
    if label:
        with st.container(border=True, horizontal=True, key="store-label", vertical_alignment="center"):
            st.badge("not your data", icon=":material/science:", color="orange")
            st.text(inert(label))


def draw_age(published_at: datetime) -> None:
    st.caption(f"Data published {age_in_words(datetime.now(UTC) - published_at)}, {published_at:%Y-%m-%d %H:%M} UTC")


def age_in_words(age: timedelta) -> str:
    seconds = max(0, int(age.total_seconds()))
    for size, unit in ((86_400, "day"), (3_600, "hour"), (60, "minute")):
        if seconds >= size:
            return f"{seconds // size} {unit}{'s' if seconds >= 2 * size else ''} ago"
    return "just now"
