"""Where a period ends that is named by its last day."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta


def end_of(day: date) -> datetime:
    """The first moment after it, in UTC; after the last day that there is there is none, and its own last moment will do."""
    midnight = datetime.combine(day, time(), UTC)
    return midnight + timedelta(days=1) if day < date.max else datetime.max.replace(tzinfo=UTC)
