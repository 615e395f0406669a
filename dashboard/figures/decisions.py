"""What becomes of the calls from one guard to another: a matrix that is read like a table.

A row is what the base decides, a column what the candidate does; what both decide alike lies on the diagonal and stays pale, so
that the eye goes to what changes. The colour of a change says what kind it is, and the text beside the number says it too.
"""

from __future__ import annotations

import plotly.graph_objects as go
import polars as pl

from dashboard.figures.frame import bare
from dashboard.look import CALM, GREEN, GREY, ORANGE, RED

DECISIONS = ("execute", "suppress", "trip", "drop", "unknown")
_CELL_HEIGHT = 54
_BLOCKS = frozenset(("suppress", "trip", "drop"))


def kind_of(base: str, candidate: str) -> tuple[str, str]:
    """The word for a change and its colour; no word where nothing changes."""
    if base == candidate:
        return "", CALM
    if "unknown" in (base, candidate):
        return "undecided", GREY
    if base in _BLOCKS and candidate == "execute":
        return "released", GREEN
    if base == "execute":
        return "newly blocked", RED
    return "blocked otherwise", ORANGE


def decision_matrix(pairs: pl.DataFrame) -> go.Figure:
    """`pairs`: base_decision, candidate_decision, calls. Decisions that nobody takes have neither row nor column."""
    counts: dict[tuple[str, str], int] = {}
    for base, candidate, calls in pairs.select("base_decision", "candidate_decision", "calls").iter_rows():
        counts[base, candidate] = counts.get((base, candidate), 0) + int(calls)
    rows = [decision for decision in DECISIONS if any(base == decision for base, _ in counts)]
    columns = [decision for decision in DECISIONS if any(candidate == decision for _, candidate in counts)]
    figure = bare("From the base (rows) to the candidate (columns), calls as facts", _CELL_HEIGHT * max(len(rows), 1) + 30)
    for (base, candidate), calls in counts.items():
        if base not in rows or candidate not in columns:
            continue
        word, colour = kind_of(base, candidate)
        x, y = columns.index(candidate), rows.index(base)
        figure.add_shape(
            type="rect", x0=x - 0.47, x1=x + 0.47, y0=y - 0.45, y1=y + 0.45, layer="below", line={"width": 0},
            fillcolor=colour, opacity=0.9 if word else 0.25,
        )  # fmt: skip
        emphasis = {"color": "white"} if word else {}
        figure.add_annotation(
            x=x, y=y, showarrow=False, text=f"{calls:,}" + (f"<br>{word}" if word else ""), font={"size": 14, **emphasis},
            hovertext=f"{calls:,} calls: {base}, then {candidate}",
        )  # fmt: skip
    figure.update_xaxes(
        range=[-0.5, max(len(columns), 1) - 0.5],
        tickvals=list(range(len(columns))),
        ticktext=columns,
        side="top",
        showgrid=False,
    )
    figure.update_yaxes(range=[max(len(rows), 1) - 0.5, -0.5], tickvals=list(range(len(rows))), ticktext=rows, showgrid=False)
    figure.update_layout(margin={"t": 84}, height=figure.layout.height + 36)
    return figure
