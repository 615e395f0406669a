"""The one way a figure comes onto a page."""

from __future__ import annotations

import plotly.graph_objects as go
import streamlit as st

# No formulas: with them Plotly would hand any label between two dollar signs to a TeX reader.
_CONFIG = {"displaylogo": False, "displayModeBar": False, "typesetMath": False}


def chart(figure: go.Figure, key: str) -> None:
    st.plotly_chart(figure, key=key, config=_CONFIG)
