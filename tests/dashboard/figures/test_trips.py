import plotly.graph_objects as go
import polars as pl

from dashboard.figures.trips import BENIGN, REPLAY, UNTOLD, trips_by_model


def _trips(*rows: tuple[str | None, str | None, int]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema={"model": pl.String, "trip_class": pl.String, "trips": pl.Int64}, orient="row")


def _by_name(figure: go.Figure) -> dict[str, list[int]]:
    return {trace.name: list(trace.x) for trace in figure.data}


def test_splits_each_models_trips_into_replays_and_fresh_calls() -> None:
    figure = trips_by_model(_trips(("kimi-k3", "replay", 2), ("kimi-k3", "collision", 5), ("qwen3", "replay", 9)))
    assert list(figure.layout.yaxis.ticktext) == ["qwen3", "kimi-k3"], "most trips first"
    assert _by_name(figure) == {REPLAY: [9, 2], BENIGN: [0, 5]}


def test_what_is_neither_is_shown_as_such_and_not_left_out() -> None:
    figure = trips_by_model(_trips(("m", "replay", 1), ("m", None, 2), ("m", "unknown", 3)))
    assert _by_name(figure) == {REPLAY: [1], UNTOLD: [5]}


def test_parts_differ_in_pattern_and_not_in_colour_alone() -> None:
    figure = trips_by_model(_trips(("m", "replay", 1), ("m", "collision", 1), ("m", None, 1)))
    assert len({trace.marker.pattern.shape for trace in figure.data}) == 3


def test_a_model_cannot_put_a_link_into_the_figure() -> None:
    figure = trips_by_model(_trips(('<a href="https://example.org">m</a>', "replay", 1)))
    assert "<a" not in figure.to_json().replace("\\u003c", "<")
    assert figure.layout.yaxis.ticktext[0].startswith("&lt;a href=")


def test_two_models_whose_shortened_names_are_alike_stay_two() -> None:
    figure = trips_by_model(_trips(("m" * 60 + "a", "replay", 1), ("m" * 60 + "b", "replay", 2)))
    assert _by_name(figure) == {REPLAY: [2, 1]}
    assert list(figure.data[0].y) == [0, 1]


def test_a_response_without_a_model_counts_as_unknown_model() -> None:
    assert list(trips_by_model(_trips((None, "replay", 1))).layout.yaxis.ticktext) == ["unknown"]
