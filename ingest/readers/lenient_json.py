"""JSON as JavaScript writes and reads it, for the lines that msgspec refuses.

msgspec rejects lone surrogates, numbers beyond a double (1e400), NaN and numbers of thousands of digits. The client writes the
first and its runtime reads the second as Infinity, so refusing them would lose real calls. Slower: used only as second chance.
"""

from __future__ import annotations

import json
from typing import Any

_LONGEST_EXACT_INTEGER = 400
"""Digits. A double ends at 309; beyond, JavaScript reads Infinity, and Python refuses integers of 4,300 digits."""


def _integer(digits: str) -> int | float:
    return int(digits) if len(digits) <= _LONGEST_EXACT_INTEGER else float(digits)


_DECODER = json.JSONDecoder(parse_int=_integer, strict=False)


def scan(text: str, start: int) -> tuple[Any, int]:
    """The JSON value at `start` and the index after it. ValueError where there is none, or it is nested too deeply."""
    try:
        return _DECODER.raw_decode(text, start)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def loads(data: bytes) -> Any:
    """One JSON value with nothing but white space around it, else ValueError (bad UTF-8 included)."""
    text = data.decode("utf-8").strip()
    value, end = scan(text, 0)
    if end != len(text):
        raise ValueError(f"more after the value at character {end}")
    return value


def dumps(value: object) -> bytes:
    """Compact JSON as JavaScript writes it, lone surrogates as escapes; only for values that `loads` made."""
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "backslashreplace")
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def storable(text: str) -> str:
    """The text with lone surrogates spelled out (`\\ud800`): no store, terminal or Arrow table takes them raw."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode("utf-8")
