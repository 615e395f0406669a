"""Which calls' arguments are what the client hashed, judged over the whole session.

A log that was redacted or cut still parses, and its fingerprints are worth nothing: every call looks new, or every call looks
like a replay. One call alone often cannot tell; the session can. Signs, each seen in shared or exported logs:
- a constant stands where a value was (`[REDACTED]`, `<redacted>`, `***`);
- a token stands for the arguments, or the same arguments for every call whichever the tool;
- the arguments carry the call's own id, so that each is unique;
- the arguments are text that breaks off in the middle of JSON, or values of several calls end at one round length
  (ZaxbyHub/opencode-swarm#2060: eight paged reads cut before the offset look like a loop).
Where in doubt the arguments count as not whole: `unknown` is an answer, an invented replay is not.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from analysis.fingerprint import canonical_name
from analysis.timeline import TimelineCall

_CONSTANT = re.compile(
    r"""(?:\A|[:,\[])\s*"(?:\[(?:redacted|removed|filtered|hidden|masked)[^"\]]*\]|<(?:redacted|removed|filtered|hidden|masked)>"""
    r"""|REDACTED|\*{3,})"(?=\s*(?:[,}\]]|\Z))""",
    re.IGNORECASE,
)
_SHORTEST_OWN_ID = 4
_SHORTEST_CUT = 40
_ALIKE = 3
"""Calls that must show the same sign before it counts, where one alone could be chance."""
_TOKEN = re.compile(r"[\w.:/+=-]+\Z")


def distrust(calls: Sequence[TimelineCall]) -> None:
    """Set `args_state` of the calls whose arguments are not whole."""
    whole = [call for call in calls if call.args_state == "whole" and call.call.args_json not in ("{}", "null")]
    if _is_one_token_for_all(whole) or _carries_own_id(whole):
        for call in whole:
            call.distrust("redacted")
        return
    cut_length = _common_cut(whole)
    for call in whole:
        if _is_broken_json(call.call.args_json) or any(len(text) == cut_length for text in _long_texts(call)):
            call.distrust("cut")
        elif _CONSTANT.search(call.call.args_json) or _as_text(call.call.args_json) is not None:
            call.distrust("redacted")


def _is_one_token_for_all(calls: Sequence[TimelineCall]) -> bool:
    """Counted by canonical name: a tool called by its old and its new name has the same arguments for a good reason."""
    tools = {canonical_name(call.call.tool) for call in calls}
    return len(tools) >= _ALIKE and len({call.call.args_json for call in calls}) == 1


def _carries_own_id(calls: Sequence[TimelineCall]) -> bool:
    def carries(call: TimelineCall) -> bool:
        own = call.call.recorded_id or ""
        return len(own) >= _SHORTEST_OWN_ID and own in call.call.args_json

    return len(calls) >= _ALIKE and all(map(carries, calls))


def _is_broken_json(args_json: str) -> bool:
    """The arguments are one string that begins as an object and does not end as one."""
    text = _as_text(args_json)
    if text is None or not text.lstrip().startswith(("{", "[")):
        return False
    try:
        json.loads(text)
    except ValueError:
        return True
    return False


def _as_text(args_json: str) -> str | None:
    if not args_json.startswith('"'):
        return None
    try:
        text = json.loads(args_json)
    except ValueError:  # our own 1 KB limit fell into the text
        return None
    return text if isinstance(text, str) else None


def _common_cut(calls: Sequence[TimelineCall]) -> int | None:
    """The round length at which the longest values all end; None where any is longer.

    Only different values count: one call repeated is a loop, not a cut.
    """
    if any(call.call.args_bytes > len(call.call.args_json.encode("utf-8", "surrogatepass")) for call in calls):
        return None
    lengths = Counter(map(len, {text for call in calls for text in _long_texts(call)}))
    longest = max(lengths, default=0)
    is_round = longest % 50 == 0 or longest & (longest - 1) == 0
    return longest if is_round and lengths[longest] >= _ALIKE else None


def _long_texts(call: TimelineCall) -> Iterator[str]:
    """The values that are text. A bare token (a hash, an id) is as long as it is."""
    if call.call.args_bytes < _SHORTEST_CUT:
        return
    try:
        value = json.loads(call.call.args_json)
    except ValueError:
        return
    for text in _texts(value):
        if len(text) >= _SHORTEST_CUT and not _TOKEN.match(text):
            yield text


def _texts(value: object) -> Iterator[str]:
    items: Iterable[object] = ()
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        items = value.values()
    elif isinstance(value, list):
        items = value
    for item in items:
        yield from _texts(item)
