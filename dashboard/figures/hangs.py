"""Silent hangs over time: turns a day that ended without anybody being told."""

from __future__ import annotations

import plotly.graph_objects as go
import polars as pl

from dashboard.figures.frame import bare
from dashboard.look import RED


def silent_hangs_per_day(days: pl.DataFrame) -> go.Figure:
    """`days`: day (date, UTC), silent_hangs, turns; one row for each day of the range, quiet days too: a gap is not a zero."""
    rows = [(day, int(hangs), int(turns)) for day, hangs, turns in days.select("day", "silent_hangs", "turns").iter_rows()]
    figure = bare("Silent hangs per day", 200)
    figure.add_bar(
        x=[day for day, _, _ in rows],
        y=[hangs for _, hangs, _ in rows],
        marker={"color": RED},
        hovertext=[f"{day:%d %b %Y}: {hangs:,} of {turns:,} turns hung silently" for day, hangs, turns in rows],
        hoverinfo="text",
    )
    figure.update_xaxes(type="date", showgrid=False, tickformat="%d %b", nticks=8, title={"text": "day (UTC)"})
    highest = max((hangs for _, hangs, _ in rows), default=0)
    figure.update_yaxes(
        rangemode="tozero",
        range=[0, max(highest * 1.15, 1)],
        title={"text": "turns"},
        tickformat=",d",
        dtick=1 if highest <= 5 else None,
    )
    return figure
