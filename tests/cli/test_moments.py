from __future__ import annotations

from datetime import UTC, datetime

import pytest

from cli.moments import parse

NOW = datetime(2026, 11, 30, 12, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("7d", datetime(2026, 11, 23, 12, 30, tzinfo=UTC)),
        ("24h", datetime(2026, 11, 29, 12, 30, tzinfo=UTC)),
        ("90m", datetime(2026, 11, 30, 11, 0, tzinfo=UTC)),
        ("2w", datetime(2026, 11, 16, 12, 30, tzinfo=UTC)),
        ("2026-11-30", datetime(2026, 11, 30, tzinfo=UTC)),
        ("2026-11-30T17:44", datetime(2026, 11, 30, 17, 44, tzinfo=UTC)),
        ("2026-11-30 17:44:38", datetime(2026, 11, 30, 17, 44, 38, tzinfo=UTC)),
        ("2026-11-30T17:44:38.872Z", datetime(2026, 11, 30, 17, 44, 38, 872000, tzinfo=UTC)),
        ("2026-11-30T17:44+02:00", datetime(2026, 11, 30, 15, 44, tzinfo=UTC)),
    ],
)
def test_forms(text: str, moment: datetime) -> None:
    parsed = parse(text, NOW)
    assert parsed == moment
    assert parsed.utcoffset() == UTC.utcoffset(None)


def test_the_end_of_a_period_takes_in_a_bare_date_and_no_other() -> None:
    assert parse("2026-11-30", NOW, end_of_day=True) == datetime(2026, 12, 1, tzinfo=UTC)
    assert parse("2026-11-30T00:00", NOW, end_of_day=True) == datetime(2026, 11, 30, tzinfo=UTC)
    assert parse("1d", NOW, end_of_day=True) == datetime(2026, 11, 29, 12, 30, tzinfo=UTC)


@pytest.mark.parametrize("text", ["", "yesterday", "7", "7y", "-7d", "2026-02-30", "1e3d", "99999-01-01"])
def test_what_is_no_time_is_refused_with_the_forms(text: str) -> None:
    with pytest.raises(ValueError, match=r"2026-11-30, .* 7d"):
        parse(text, NOW, end_of_day=True)


@pytest.mark.parametrize("text", ["999999w", "0001-01-01T00:00+10:00", "9999-12-31T23:00-10:00"])
def test_what_no_calendar_holds_is_refused_with_its_ends(text: str) -> None:
    with pytest.raises(ValueError, match="before the year 1 or after the year 9999"):
        parse(text, NOW)


def test_the_last_day_of_the_calendar_is_the_end_of_a_period() -> None:
    assert parse("9999-12-31", NOW, end_of_day=True) == datetime(9999, 12, 31, 23, 59, 59, 999999, tzinfo=UTC)
    assert parse("9999-12-30", NOW, end_of_day=True) == datetime(9999, 12, 31, tzinfo=UTC)
    assert parse("0001-01-01", NOW) == datetime(1, 1, 1, tzinfo=UTC)
