"""A session at a glance: one lane a turn, one column a response, one mark a call, and at the end of the lane how it ended.

Columns are responses and not seconds: a breaker trips on the third response whether that took a second or an hour, and on an
axis of time the calls of a loop would lie on top of each other.
"""

from __future__ import annotations

from typing import NamedTuple

import plotly.graph_objects as go
import polars as pl

from dashboard.figures.frame import TITLE_HEIGHT, bare, label, with_legend
from dashboard.look import CLASS_LETTERS, GREY, OUTCOMES, of_outcome, of_verdict

LOOSE_ROW, TIGHT_ROW = 34, 24
MANY_ROWS = 10
AXIS_HEIGHT = 22
WIDTH = 900
"""Pixels that the lanes are taken to have; only the size of the marks follows from it."""
SMALLEST_WITH_LETTER = 12


class _Lane(NamedTuple):
    top: int
    """Row of the first call of each batch."""
    rows: int
    """As many as the largest batch of the turn has calls."""
    responses: int


def session_timeline(turns: pl.DataFrame, responses: pl.DataFrame, calls: pl.DataFrame, trips: pl.DataFrame) -> go.Figure:
    """`turns`: turn_no, verdict, inherited; `responses`: turn_no, response_no, calls, has_text; `calls`: turn_no, response_no,
    call_no, tool, recorded_id, class, outcome; `trips`: turn_no, response_no, of the guard in force.
    """
    lanes = _lanes(turns, responses, calls)
    rows = sum(lane.rows for lane in lanes.values())
    columns = max((lane.responses for lane in lanes.values()), default=1)
    row_height = LOOSE_ROW if rows <= MANY_ROWS else TIGHT_ROW
    size = max(6, min(18, int(WIDTH / max(columns, 1) * 0.7)))
    figure = bare("Turns, responses and calls", AXIS_HEIGHT + row_height * max(rows, 1))
    _draw_calls(figure, lanes, calls, size)
    _draw_texts(figure, lanes, responses, size)
    _draw_ends(figure, lanes, turns, trips)
    with_legend(figure)
    figure.update_layout(margin={"t": TITLE_HEIGHT + AXIS_HEIGHT})
    ticks = _round_ticks(columns)
    figure.update_xaxes(
        side="top", range=[0.4, columns + 0.6 + max(2, columns * 0.3)], showgrid=False, fixedrange=columns < 50,
        tickmode="array", tickvals=ticks, ticktext=["response 1", *(str(tick) for tick in ticks[1:])],
    )  # fmt: skip
    figure.update_yaxes(
        tickmode="array",
        tickvals=[lane.top for lane in lanes.values()],
        ticktext=_turn_names(turns),
        showgrid=False,
        range=[rows - 0.4, -0.6],
        fixedrange=True,
    )
    line = {"type": "line", "xref": "paper", "x0": 0, "x1": 1, "line": {"color": GREY, "width": 0.5}, "opacity": 0.5}
    figure.update_layout(shapes=[{**line, "y0": lane.top - 0.5, "y1": lane.top - 0.5} for lane in list(lanes.values())[1:]])
    return figure


def _lanes(turns: pl.DataFrame, responses: pl.DataFrame, calls: pl.DataFrame) -> dict[int, _Lane]:
    last = dict(responses.group_by("turn_no").agg(pl.col("response_no").max()).iter_rows())
    largest = dict(calls.group_by("turn_no").agg(pl.col("call_no").max()).iter_rows())
    lanes: dict[int, _Lane] = {}
    top = 0
    for turn_no in turns.get_column("turn_no"):
        lanes[turn_no] = _Lane(top, largest.get(turn_no) or 1, last.get(turn_no) or 0)
        top += lanes[turn_no].rows
    return lanes


def _draw_calls(figure: go.Figure, lanes: dict[int, _Lane], calls: pl.DataFrame, size: int) -> None:
    marks = calls.select("turn_no", "response_no", "call_no", "tool", "recorded_id", "class", "outcome").rows()
    for outcome in sorted({mark[6] for mark in marks}, key=lambda word: list(OUTCOMES).index(word) if word in OUTCOMES else 99):
        mine = [mark for mark in marks if mark[6] == outcome and mark[0] in lanes]
        look = of_outcome(outcome)
        figure.add_scatter(
            name=label(outcome),
            x=[response_no for _, response_no, *_ in mine],
            y=[lanes[turn_no].top + call_no - 1 for turn_no, _, call_no, *_ in mine],
            mode="markers+text" if size >= SMALLEST_WITH_LETTER else "markers",
            text=[f"<b>{CLASS_LETTERS.get(call_class, '?')}</b>" for *_, call_class, _ in mine],
            textposition="middle center",
            textfont={"size": 11, "color": look.colour if look.symbol.endswith("-open") else "white"},
            marker={"symbol": look.symbol, "color": look.colour, "size": size, "line": {"width": 2, "color": look.colour}},
            hovertext=[
                f"<b>{turn_no}.{response_no}.{call_no}</b>  {label(tool)}<br>id {label(recorded_id, 'none')}"
                f"<br>{label(call_class)}, {label(outcome)}"
                for turn_no, response_no, call_no, tool, recorded_id, call_class, _ in mine
            ],
            hoverinfo="text",
        )


def _draw_texts(figure: go.Figure, lanes: dict[int, _Lane], responses: pl.DataFrame, size: int) -> None:
    for has_text, name, symbol in ((True, "answer in text", "line-ew-open"), (False, "empty response", "asterisk-open")):
        mine = [
            (turn_no, response_no)
            for turn_no, response_no, calls, text in responses.select("turn_no", "response_no", "calls", "has_text").iter_rows()
            if not calls and text == has_text and turn_no in lanes
        ]
        if mine:
            figure.add_scatter(
                name=name,
                x=[response_no for _, response_no in mine],
                y=[lanes[turn_no].top for turn_no, _ in mine],
                mode="markers",
                marker={"symbol": symbol, "color": GREY, "size": size, "line": {"width": 2, "color": GREY}},
                hovertext=[f"<b>{turn_no}.{response_no}</b>  {name}" for turn_no, response_no in mine],
                hoverinfo="text",
            )


def _draw_ends(figure: go.Figure, lanes: dict[int, _Lane], turns: pl.DataFrame, trips: pl.DataFrame) -> None:
    tripped = set(trips.get_column("turn_no"))
    for turn_no, verdict in turns.select("turn_no", "verdict").iter_rows():
        lane, look = lanes[turn_no], of_verdict(verdict)
        trip = "breaker trips → " if turn_no in tripped else ""
        figure.add_annotation(
            x=lane.responses + 0.55,
            y=lane.top,
            # The sign in its colour, the word in the page's own: not every colour is dark enough for a word.
            text=f"{trip}<span style='color:{look.colour}'>{look.sign}</span> {label(verdict)}",
            font={"size": 13},
            showarrow=False,
            xanchor="left",
        )


def _turn_names(turns: pl.DataFrame) -> list[str]:
    return [f"turn {turn_no}{' (copy)' if copy else ''}" for turn_no, copy in turns.select("turn_no", "inherited").iter_rows()]


def _round_ticks(columns: int) -> list[int]:
    step = next(step for step in (1, 5, 10, 50, 100, 500, 1000, 10**9) if columns / step <= 24)
    return [1, *range(step, columns + 1, step)] if step > 1 else list(range(1, columns + 1))
