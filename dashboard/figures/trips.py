"""Breaker trips a model, split into what the guard is for (replays) and what it should have let pass (fresh calls).

The split is the whole point of the figure: a model with many trips is either looping or only numbering its calls anew.
"""

from __future__ import annotations

import plotly.graph_objects as go
import polars as pl

from dashboard.figures.frame import BAR_HEIGHT, bare, label, with_legend
from dashboard.look import CALM, GREY, ORANGE

REPLAY = "replay: rightly stopped"
BENIGN = "collision: a fresh call killed"
UNTOLD = "not told"

# Trip class in the store -> name, colour, pattern. The pattern says the same as the colour.
_PARTS = {"replay": (REPLAY, CALM, ""), "collision": (BENIGN, ORANGE, "/"), None: (UNTOLD, GREY, "x")}


def trips_by_model(trips: pl.DataFrame) -> go.Figure:
    """`trips`: model, trip_class, trips. A class that is neither replay nor collision counts as not told."""
    counts: dict[str | None, dict[str | None, int]] = {}
    for model, trip_class, count in trips.select("model", "trip_class", "trips").iter_rows():
        parts = counts.setdefault(model, {})
        known = trip_class if trip_class in _PARTS else None
        parts[known] = parts.get(known, 0) + int(count)
    models = sorted(counts, key=lambda model: (-sum(counts[model].values()), model or ""))
    figure = bare("Breaker trips by model", BAR_HEIGHT * max(len(models), 1))
    for trip_class, (name, colour, pattern) in _PARTS.items():
        values = [counts[model].get(trip_class, 0) for model in models]
        if not any(values):
            continue
        figure.add_bar(
            orientation="h",
            name=name,
            y=list(range(len(models))),
            x=values,
            text=[f"{value:,}" if value else "" for value in values],
            textposition="inside",
            textangle=0,
            insidetextanchor="middle",
            textfont={"color": "white", "size": 13},
            marker={
                "color": colour,
                "pattern": {
                    "shape": pattern,
                    "fillmode": "overlay",
                    "fgcolor": "white",
                    "fgopacity": 0.45,
                    "size": 9,
                    "solidity": 0.2,
                },
            },
            hovertext=[f"{label(model)}: {value:,} {name}" for model, value in zip(models, values, strict=True)],
            hoverinfo="text",
        )
    figure.update_layout(barmode="stack")
    with_legend(figure)
    figure.update_xaxes(visible=False, rangemode="tozero")
    # Positions, not names: two models whose shortened names are alike stay two bars.
    figure.update_yaxes(
        autorange="reversed", showgrid=False, tickvals=list(range(len(models))), ticktext=[label(model) for model in models]
    )
    return figure
