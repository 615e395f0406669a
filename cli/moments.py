"""Points in time as people type them: `2026-11-30`, `2026-11-30T17:44Z`, or so long ago, `7d`, `24h`."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time, timedelta

from analysis.periods import end_of

_AGO = re.compile(r"(\d{1,6})\s*(m|h|d|w)")
_UNITS = {"m": timedelta(minutes=1), "h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")

FORMS = "2026-11-30, 2026-11-30T17:44 (UTC unless an offset is given), or an age such as 30m, 24h, 7d, 2w"


def parse(text: str, now: datetime, *, end_of_day: bool = False) -> datetime:
    """In UTC. With `end_of_day` a bare date takes in its whole day. ValueError names the forms that are understood."""
    text = text.strip()
    try:
        ago = _AGO.fullmatch(text)
        if ago:
            return now - int(ago[1]) * _UNITS[ago[2]]
        if _DAY.fullmatch(text):
            day = date.fromisoformat(text)
            return end_of(day) if end_of_day else datetime.combine(day, time(), UTC)
        moment = datetime.fromisoformat(text)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except OverflowError:
        raise ValueError(f"{text!r} lies before the year 1 or after the year 9999.") from None
    except ValueError:
        raise ValueError(f"{text!r} is no time. Give {FORMS}.") from None
