"""Two calls under one id, key by key: what tells a collision from a replay.

Arguments that were cut are not compared: what is left of them is no JSON, and two long texts may differ in the rest alone.
"""

from __future__ import annotations

import json
from typing import NamedTuple


class Difference(NamedTuple):
    key: str
    first: str
    """JSON; empty where the call lacks the key."""
    second: str
    differs: bool


def compared(first: str, second: str) -> list[Difference] | None:
    """The keys of both, those that differ first. None where either text is no JSON object (cut, or absent)."""
    left, right = _object(first), _object(second)
    if left is None or right is None:
        return None
    keys = list(dict.fromkeys([*left, *right]))
    rows = [Difference(key, left.get(key, ""), right.get(key, ""), left.get(key) != right.get(key)) for key in keys]
    return sorted(rows, key=lambda row: not row.differs)


def _object(text: str) -> dict[str, str] | None:
    """Each value as the text it has in the log: numbers are not read, so that none can be changed by the reading."""
    try:
        value = json.loads(text, parse_float=_Verbatim, parse_int=_Verbatim)
    except (ValueError, RecursionError):
        return None
    return {key: _text(part) for key, part in value.items()} if isinstance(value, dict) else None


class _Verbatim(str):
    """A number as it was written."""


def _text(value: object) -> str:
    if isinstance(value, _Verbatim):
        return str(value)
    if isinstance(value, list):
        return "[" + ", ".join(map(_text, value)) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key, ensure_ascii=False)}: {_text(part)}" for key, part in value.items()) + "}"
    return json.dumps(value, ensure_ascii=False)
