"""Silent hangs over time: turns a day that ended without anybody being told."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from typing import Any

import plotly.graph_objects as go
import polars as pl

from dashboard.figures.frame import bare
from dashboard.look import RED

MOST_TICKS = 10
SHORTEST = 7
"""Days."""


def silent_hangs_per_day(days: pl.DataFrame) -> go.Figure:
    """`days`: day (date, UTC), silent_hangs, turns; one row for each day of the range, quiet days too: a gap is not a zero."""
    rows = [(day, int(hangs), int(turns)) for day, hangs, turns in days.select("day", "silent_hangs", "turns").iter_rows()]
    figure = bare("Silent hangs per day", 200)
    figure.add_bar(
        x=[day for day, _, _ in rows],
        width=0.65 * 24 * 60 * 60 * 1000,
        y=[hangs for _, hangs, _ in rows],
        marker={"color": RED},
        hovertext=[f"{day:%d %b %Y}: {hangs:,} of {turns:,} turns hung silently" for day, hangs, turns in rows],
        hoverinfo="text",
    )
    figure.update_xaxes(type="date", showgrid=False, title={"text": "day (UTC)"}, **_days_axis([day for day, _, _ in rows]))
    highest = max((hangs for _, hangs, _ in rows), default=0)
    figure.update_yaxes(
        rangemode="tozero",
        range=[0, max(highest * 1.15, 1)],
        title={"text": "turns"},
        tickformat=",d",
        dtick=1 if highest <= 5 else None,
    )
    return figure


def _days_axis(days: list[date]) -> dict[str, Any]:
    """Ticks at days and nowhere else, as many as are read easily: of one or two days Plotly would mark hours, all with the same
    words. A week is the least that is shown, else one day is as wide as the page."""
    if not days:
        return {}
    every = -(-len(days) // MOST_TICKS)
    missing = max(0, SHORTEST - len(days)) / 2
    return {
        "tickmode": "array",
        "tickvals": days[::every],
        "ticktext": [f"{day:%d %b}" for day in days[::every]],
        "range": [_start(days[0]) - timedelta(days=missing + 0.5), _start(days[-1]) + timedelta(days=missing + 0.5)],
    }


def _start(day: date) -> datetime:
    """Where Plotly centres the day's bar."""
    return datetime.combine(day, time())
