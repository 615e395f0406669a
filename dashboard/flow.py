"""Parts of a page side by side while there is room for them, and below each other where there is not.

Columns keep their number however narrow they get: at 900 pixels a number would be three dots and a title half a word.
"""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

SIDE_BY_SIDE = "side-by-side"

STYLE = f"""<style>
[data-testid=stMainBlockContainer] {{ padding: 4rem 2rem 3rem; }}
[class*="st-key-{SIDE_BY_SIDE}"] > * {{ flex: 1 1 26rem; min-width: min(26rem, 100%); }}
</style>"""
"""Streamlit's own margins take a sixth of a small screen; tables need it."""


def side_by_side(name: str) -> DeltaGenerator:
    """A container whose parts share a line or stand one below the other. `name`: unlike any other of the page."""
    return st.container(horizontal=True, gap="large", key=f"{SIDE_BY_SIDE}-{name}")


def numbers(shown: Sequence[tuple[str, str, str]], width: int = 150) -> None:
    """Name, value and the line below it; `width` of each, in pixels."""
    with st.container(horizontal=True, gap="small"):
        for name, value, beside in shown:
            with st.container(width=width, gap=None):
                st.metric(name, value)
                st.caption(beside)
