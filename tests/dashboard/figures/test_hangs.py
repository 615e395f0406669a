from datetime import date

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
