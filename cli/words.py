"""A value as a person reads it."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal


def words(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, datetime):
        return in_utc(value).strftime("%Y-%m-%d %H:%M:%SZ")
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, list | tuple):
        return ", ".join(words(item) for item in value)
    return str(value.hex() if isinstance(value, bytes) else value)


def in_utc(moment: datetime) -> datetime:
    """Without a zone, as the store's own are."""
    return moment.astimezone(UTC).replace(tzinfo=None) if moment.tzinfo else moment


def is_number(value: object) -> bool:
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool)
