"""The provider's id behind the recorded one, and how it is known.

Qwen Code logs only the id it normalised: an id that is already in the model's history gets `__qwen_dup_N`, and a missing one
is replaced by an id of the client's own making (QWEN_CODE.md 3, seen in 0.12.0 to 0.24.4). Exactly one suffix is taken off,
and only where the bare id stands in the history at that point: a model that echoes a suffixed id gets a second suffix, and a
model may send an id that merely looks suffixed. Stripping more, or always, would turn distinct ids into replays.
"""

from __future__ import annotations

import re
from collections.abc import Container
from typing import Literal

IdSource = Literal["recorded", "recovered", "absent"]

_SUFFIX = re.compile(r"(?P<base>.+)__qwen_dup_\d+\Z", re.DOTALL)
_SYNTHETIC_CALL = re.compile(r"(?P<base>.+):duplicate:\d+:\d+\Z", re.DOTALL)
_CLIENT_MADE = re.compile(r"call_\d{13}_[0-9a-z]{5,9}\Z|call_qwen_\d+\Z")
_SHORTEST_UNIT = 4
_NO_ID = frozenset(("", "null", "None", "undefined"))
"""Ids that say there is none: an adapter turned a missing value into text (apache/flink-agents#947)."""


def history_id(recorded_id: str | None) -> str | None:
    """The id under which the model's history holds the call.

    A sub-agent's log marks the call it answered synthetically with `:duplicate:ROUND:N`; neither its history nor its result
    carries that mark (seen in 0.21.10 and 0.24.4), so pairing without taking it off would leave the call unanswered.
    """
    if recorded_id is None or ":" not in recorded_id or ":duplicate:" not in recorded_id:
        return recorded_id
    marked = _SYNTHETIC_CALL.match(recorded_id)
    return marked["base"] if marked else recorded_id


def repeated_unit(recorded_id: str | None) -> str | None:
    """The id that is repeated inside a corrupt one, as merged stream deltas leave it (langchain-ai/deepagentsjs#33)."""
    text = recorded_id or ""
    period = (text + text).find(text, 1)  # the shortest by which the text, said again and again, falls on itself
    units = range(period, len(text) // 2 + 1, period) if 0 < period < len(text) else ()
    length = next((length for length in units if length >= _SHORTEST_UNIT and len(text) % length == 0), None)
    return text[:length] if length is not None else None


def says_no_id(recorded_id: str | None) -> bool:
    """Missing, empty, or a missing value turned into text."""
    return recorded_id is None or recorded_id in _NO_ID


def call_half(provider: str) -> str | None:
    """The half of a composite id `CALL|ITEM` that names the call; gateways keep only the whole unique (openclaw#110956)."""
    left, bar, _ = provider.partition("|")
    return left if bar and left else None


def provider_id(recorded_id: str | None, used: Container[str | None]) -> tuple[str | None, IdSource]:
    """The id that the model sent, given the ids `used` in its history before this response."""
    return provider_id_of(history_id(recorded_id), used)


def _is_client_made(recorded_id: str) -> bool:
    looks_like_it = recorded_id[18:19] == "_" or recorded_id.startswith("call_qwen_")  # behind 13 digits, or in their place
    return looks_like_it and _CLIENT_MADE.match(recorded_id) is not None


def provider_id_of(in_history: str | None, used: Container[str | None]) -> tuple[str | None, IdSource]:
    """The same, where the id under which the history holds the call is known already."""
    if in_history is None or in_history in _NO_ID or _is_client_made(in_history):
        return None, "absent"
    suffixed = _SUFFIX.match(in_history) if "__qwen_dup_" in in_history else None
    if suffixed and suffixed["base"] in used:
        return suffixed["base"], "recovered"
    return in_history, "recorded"
