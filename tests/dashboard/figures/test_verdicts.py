import polars as pl

from dashboard.figures.verdicts import sessions_by_verdict

COUNTS = pl.DataFrame({"verdict": ["silent-hang", "provider-error", "completed"], "sessions": [3, 0, 1200]})


def test_draws_each_verdict_that_somebody_has_in_the_order_given() -> None:
    (bars,) = sessions_by_verdict(COUNTS).data
    assert list(bars.x) == [3, 1200]
    assert list(bars.y) == ["■  silent-hang", "●  completed"]
    assert list(bars.text) == ["3", "1,200"]


def test_worst_is_on_top() -> None:
    assert sessions_by_verdict(COUNTS).layout.yaxis.autorange == "reversed"


def test_no_session_is_an_empty_figure_with_its_title() -> None:
    figure = sessions_by_verdict(COUNTS.clear())
    assert not figure.data[0].x
    assert "verdict" in figure.layout.title.text


def test_a_verdict_of_a_newer_store_is_drawn_as_unknown() -> None:
    (bars,) = sessions_by_verdict(pl.DataFrame({"verdict": ["frozen"], "sessions": [1]})).data
    assert list(bars.y) == ["?  frozen"]
