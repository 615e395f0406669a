"""What all figures share: a transparent ground (Streamlit lays its own theme under it) and text that cannot become markup.

Plotly reads a subset of HTML in every label and hover text, links included, so that a model named `<a href=...>` would be one.
"""

from __future__ import annotations

from html import escape

import plotly.graph_objects as go

from analysis.inert_text import shortened

LABEL_LENGTH = 42
BAR_HEIGHT = 34
"""Pixels for one horizontal bar and its label, the gap included."""
TITLE_HEIGHT = 48
LEGEND_HEIGHT = 40


def label(text: str | None, otherwise: str = "unknown") -> str:
    """Log text for a label: inert, short, and with nothing left that Plotly takes for a tag or an entity."""
    return escape(shortened(text, LABEL_LENGTH) if text else otherwise, quote=False)


def bare(title: str, height: int) -> go.Figure:
    """An empty figure with the project's margins and no decoration. `height`: of the plot itself, in pixels."""
    figure = go.Figure()
    figure.update_layout(
        title={"text": title, "font": {"size": 16}, "x": 0, "xanchor": "left", "y": 1, "yanchor": "top", "pad": {"t": 6}},
        height=height + TITLE_HEIGHT,
        margin={"l": 8, "r": 16, "t": TITLE_HEIGHT, "b": 0},
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        showlegend=False,
        bargap=0.35,
        dragmode=False,
        hoverlabel={"align": "left"},
    )
    figure.update_xaxes(automargin=True, zeroline=False, ticks="", tickfont={"size": 13})
    figure.update_yaxes(automargin=True, zeroline=False, ticks="", tickfont={"size": 13})
    return figure


def with_legend(figure: go.Figure) -> None:
    """Below the plot, at a fixed distance whatever the height of the figure."""
    plot = figure.layout.height - TITLE_HEIGHT
    figure.update_layout(
        height=figure.layout.height + LEGEND_HEIGHT,
        margin={"b": LEGEND_HEIGHT},
        showlegend=True,
        legend={
            "orientation": "h", "x": 0, "xanchor": "left", "y": -8 / plot, "yanchor": "top", "font": {"size": 13},
            "itemsizing": "constant", "traceorder": "normal",
        },
    )  # fmt: skip
