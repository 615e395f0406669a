"""Members of messages whose writers we do not know: times in any unit, arguments as objects or text, results in any shape."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from ingest.readers.base import FingerprintFunction
from ingest.readers.lenient_json import loads, storable
from ingest.readers.qwen_wire import microseconds, time_of

_ARGS_KEPT = 1024
_TEXTS = ("text", "output", "content", "newText")
_DEPTH = 8
"""How deep a result is looked into for its texts: a hostile one is nested deeper than Python recurses."""
_NEWEST = 253_402_300_800
"""The year 10000 in seconds: what is larger counts a smaller unit."""


class Args(Struct, frozen=True):
    json: str
    fingerprint: bytes | None


def moment(value: object) -> int | None:
    """Microseconds: ISO text, or a number since the epoch in seconds, milli-, micro- or nanoseconds, told by its size."""
    if isinstance(value, str):
        return microseconds(time_of(value))
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    for per_unit in (1_000_000, 1_000, 1):
        if 0 <= value < _NEWEST * (1_000_000 // per_unit):
            return round(value * per_unit)
    return round(value / 1000) if 0 <= value < _NEWEST * 1_000_000_000 else None


def args_of(tool: str, value: object, fingerprint: FingerprintFunction) -> Args:
    """A text is what the provider streamed: JSON, or the beginning of some."""
    if isinstance(value, str):
        try:
            value = loads(value.encode("utf-8", "surrogatepass"))
        except ValueError:
            return Args(storable(str(value))[:_ARGS_KEPT], None)
    digest, canonical = fingerprint(tool, value)
    return Args(canonical[:_ARGS_KEPT].decode("utf-8", "ignore"), digest)


def lines_of(result: object, depth: int = _DEPTH) -> int:
    """How many lines of text a card shows for the result; what holds no text by a known name counts as one line of JSON."""
    if result is None:
        return 0
    if isinstance(result, str):
        return len(result.removesuffix("\n").split("\n")) if result else 0
    if isinstance(result, list) and depth:
        return sum(lines_of(part, depth - 1) for part in result)
    if isinstance(result, dict) and depth:
        told = next((result[name] for name in _TEXTS if isinstance(result.get(name), str | list | dict)), None)
        return 1 if told is None else lines_of(told, depth - 1)
    return 1


def mapping(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
