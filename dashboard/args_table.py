"""The arguments of two calls in one table, those that differ first."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from analysis.inert_text import inert
from dashboard.args_compare import Difference


def draw(differences: Sequence[Difference], names: tuple[str, str]) -> None:
    """names: of the two calls, inert already."""
    st.dataframe(
        [
            {
                "": "≠" if one.differs else "=",
                "argument": inert(one.key),
                names[0]: inert(one.first),
                names[1]: inert(one.second),
            }
            for one in differences
        ],
        hide_index=True,
        column_config={"": st.column_config.TextColumn(width=40), "argument": st.column_config.TextColumn(width=150)},
    )
