"""Sessions by verdict, worst on top."""

from __future__ import annotations

import plotly.graph_objects as go
import polars as pl

from dashboard.figures.frame import BAR_HEIGHT, bare, label
from dashboard.look import of_verdict

ROOM_FOR_NUMBER = 1.15
"""Of the longest bar's length, so that its number is not cut off behind it."""


def sessions_by_verdict(counts: pl.DataFrame) -> go.Figure:
    """`counts`: verdict, sessions; one row a verdict, in the order of badness. Verdicts nobody has take no room."""
    rows = [(str(verdict), int(sessions)) for verdict, sessions in counts.select("verdict", "sessions").iter_rows() if sessions]
    figure = bare("Sessions by verdict of their last turn", BAR_HEIGHT * max(len(rows), 1))
    figure.add_bar(
        orientation="h",
        y=[f"{of_verdict(verdict).sign}  {label(verdict)}" for verdict, _ in rows],
        x=[sessions for _, sessions in rows],
        text=[f"{sessions:,}" for _, sessions in rows],
        textposition="outside",
        textfont={"size": 13},
        cliponaxis=False,
        marker={"color": [of_verdict(verdict).colour for verdict, _ in rows]},
        hovertext=[f"{label(verdict)}: {sessions:,} sessions" for verdict, sessions in rows],
        hoverinfo="text",
    )
    most = max((sessions for _, sessions in rows), default=1)
    figure.update_xaxes(visible=False, range=[0, most * ROOM_FOR_NUMBER])
    figure.update_yaxes(autorange="reversed", showgrid=False)
    return figure
