import plotly.graph_objects as go
import polars as pl

from dashboard.figures.timeline import session_timeline

TURNS = pl.DataFrame({"turn_no": [1, 2], "verdict": ["silent-hang", "completed"], "inherited": [False, True]})
RESPONSES = pl.DataFrame(
    {
        "turn_no": [1, 1, 2, 2, 2],
        "response_no": [1, 2, 1, 2, 3],
        "calls": [1, 2, 1, 0, 0],
        "has_text": [False, False, False, True, False],
    }
)
CALLS = pl.DataFrame(
    {
        "turn_no": [1, 1, 1, 2],
        "response_no": [1, 2, 2, 1],
        "call_no": [1, 1, 2, 1],
        "tool": ["run_shell_command", "run_shell_command", "<b>read</b>", "edit"],
        "recorded_id": ["shell_0", "shell_0__qwen_dup_2", None, "shell_1"],
        "class": ["first-use", "collision", "replay", "first-use"],
        "outcome": ["executed", "dropped", "dropped", "executed"],
    }
)
TRIPS = pl.DataFrame({"turn_no": [1], "response_no": [2]})


def _figure() -> go.Figure:
    return session_timeline(TURNS, RESPONSES, CALLS, TRIPS)


def _trace(name: str) -> go.Scatter:
    return next(trace for trace in _figure().data if trace.name == name)


def test_a_call_stands_in_its_turns_lane_and_its_responses_column() -> None:
    # Turn 1 has a batch of two: rows 0 and 1. Turn 2 begins below, in row 2.
    assert list(zip(_trace("executed").x, _trace("executed").y, strict=True)) == [(1, 0), (1, 2)]
    assert list(zip(_trace("dropped").x, _trace("dropped").y, strict=True)) == [(2, 0), (2, 1)]
    assert list(_figure().layout.yaxis.tickvals) == [0, 2]
    assert list(_figure().layout.yaxis.ticktext) == ["turn 1", "turn 2 (copy)"]


def test_outcomes_differ_in_shape_and_classes_in_letter() -> None:
    assert _trace("executed").marker.symbol != _trace("dropped").marker.symbol
    assert list(_trace("dropped").text) == ["<b>C</b>", "<b>R</b>"]
    assert list(_trace("executed").text) == ["<b></b>", "<b></b>"]


def test_a_response_without_a_call_is_drawn_too() -> None:
    assert list(zip(_trace("answer in text").x, _trace("answer in text").y, strict=True)) == [(2, 2)]
    assert list(zip(_trace("empty response").x, _trace("empty response").y, strict=True)) == [(3, 2)]


def test_a_lane_ends_with_how_its_turn_ended() -> None:
    ends = [annotation.text for annotation in _figure().layout.annotations]
    assert ends[0].startswith("breaker trips → ")
    assert ends[0].endswith("silent-hang")
    assert ends[1].endswith("completed")
    assert "trips" not in ends[1]


def test_hover_tells_the_place_the_id_and_the_class_and_escapes_the_tool() -> None:
    replayed = _trace("dropped").hovertext[1]
    assert replayed == "<b>1.2.2</b>  &lt;b&gt;read&lt;/b&gt;<br>id none<br>replay, dropped"


def test_a_turn_without_responses_keeps_its_lane() -> None:
    figure = session_timeline(TURNS, RESPONSES.clear(), CALLS.clear(), TRIPS.clear())
    assert list(figure.layout.yaxis.tickvals) == [0, 1]
    assert len(figure.layout.annotations) == 2


def test_marks_shrink_in_a_long_turn_and_then_drop_their_letters() -> None:
    long = pl.DataFrame(
        {"turn_no": [1] * 300, "response_no": list(range(1, 301)), "calls": [1] * 300, "has_text": [False] * 300}
    )
    figure = session_timeline(TURNS, long, CALLS, TRIPS)
    assert figure.data[0].marker.size < 12
    assert figure.data[0].mode == "markers"
    assert len(figure.layout.xaxis.tickvals) <= 25
