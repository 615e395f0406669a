from datetime import date, timedelta

import polars as pl

from dashboard.figures.hangs import silent_hangs_per_day

DAYS = pl.DataFrame(
    {"day": [date(2026, 11, 1), date(2026, 11, 2), date(2026, 11, 3)], "silent_hangs": [2, 0, 1], "turns": [10, 4, 1]}
)


def test_a_quiet_day_is_a_zero_and_not_a_gap() -> None:
    (bars,) = silent_hangs_per_day(DAYS).data
    assert list(bars.y) == [2, 0, 1]
    assert len(bars.x) == 3


def test_says_of_how_many_turns() -> None:
    (bars,) = silent_hangs_per_day(DAYS).data
    assert bars.hovertext[0] == "01 Nov 2026: 2 of 10 turns hung silently"


def test_axes_name_their_units() -> None:
    layout = silent_hangs_per_day(DAYS).layout
    assert layout.xaxis.title.text == "day (UTC)"
    assert layout.yaxis.title.text == "turns"


def test_few_hangs_get_no_fractions_on_the_axis() -> None:
    assert silent_hangs_per_day(DAYS).layout.yaxis.dtick == 1


def test_one_day_is_one_tick_and_no_wall() -> None:
    """Plotly's own ticks would be the hours of the day, each called by its date."""
    figure = silent_hangs_per_day(DAYS.head(1))
    assert list(figure.layout.xaxis.ticktext) == ["01 Nov"]
    first, last = figure.layout.xaxis.range
    assert (last - first).days == 7
    (bars,) = figure.data
    assert 0.5 < bars.width / 86_400_000 < 0.8


def test_a_long_time_has_as_many_ticks_as_can_be_read() -> None:
    days = [date(2026, 1, 1) + timedelta(days=number) for number in range(100)]
    figure = silent_hangs_per_day(pl.DataFrame({"day": days, "silent_hangs": [0] * 100, "turns": [1] * 100}))
    assert list(figure.layout.xaxis.ticktext)[:2] == ["01 Jan", "11 Jan"]
    assert len(figure.layout.xaxis.ticktext) == 10
    first, last = figure.layout.xaxis.range
    assert (last - first).days == 100


def test_no_day_draws_nothing() -> None:
    assert len(silent_hangs_per_day(DAYS.head(0)).data[0].x) == 0
