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
from collections.abc import Sequence

import msgspec

from analysis.fingerprint import canonical_name
from analysis.timeline import TimelineCall
from ingest.records import Call

_CONSTANT = re.compile(
    r"""\"(?=[\[<*r])(?:\[(?:redacted|removed|filtered|hidden|masked)[^"\]]*\]"""
    r"""|<(?:redacted|removed|filtered|hidden|masked)>|redacted|\*{3,})"(?=\s*(?:[,}\]]|\Z))""",
    re.IGNORECASE,
)
"""It begins with a plain character, and the next one tells nearly always: so it is found, or not, at no cost."""
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
        args_json = call.call.args_json
        text = _as_text(args_json) if args_json.startswith('"') else None
        is_cut = cut_length is not None and cut_length in map(len, _long_texts(call))
        if is_cut or (text is not None and _is_broken_json(text)):
            call.distrust("cut")
        elif text is not None or _holds_constant(args_json):
            call.distrust("redacted")


def _holds_constant(args_json: str) -> bool:
    """In the place of a value: at the start, or behind what a value stands behind."""
    found = _CONSTANT.search(args_json)
    while found is not None:
        before = args_json[: found.start()].rstrip()
        if not before or before[-1] in ":,[":
            return True
        found = _CONSTANT.search(args_json, found.end())
    return False


def _is_one_token_for_all(calls: Sequence[TimelineCall]) -> bool:
    """Counted by canonical name: a tool called by its old and its new name has the same arguments for a good reason."""
    if len(calls) < _ALIKE or any(call.call.args_json != calls[0].call.args_json for call in calls):
        return False
    return len({canonical_name(call.call.tool) for call in calls}) >= _ALIKE


def _carries_own_id(calls: Sequence[TimelineCall]) -> bool:
    def carries(call: TimelineCall) -> bool:
        own = call.call.recorded_id or ""
        return len(own) >= _SHORTEST_OWN_ID and own in call.call.args_json

    return len(calls) >= _ALIKE and all(map(carries, calls))


def _is_broken_json(text: str) -> bool:
    """It begins as an object and does not end as one."""
    if not text.lstrip().startswith(("{", "[")):
        return False
    try:
        json.loads(text)
    except (ValueError, RecursionError):  # text of a KB nests so deep only where nothing is closed
        return True
    return False


def _as_text(args_json: str) -> str | None:
    try:
        text = json.loads(args_json)
    except ValueError:  # our own 1 KB limit fell into the text
        return None
    return text if isinstance(text, str) else None


def _common_cut(calls: Sequence[TimelineCall]) -> int | None:
    """The round length at which the longest values all end; None where any is longer.

    Only different values count: one call repeated is a loop, not a cut.
    """
    if any(_is_longer_than_kept(call.call) for call in calls):
        return None
    longest, texts = 0, set[str]()
    for call in sorted(calls, key=lambda call: len(call.call.args_json), reverse=True):
        if len(call.call.args_json) < longest:
            break  # no JSON holds a longer text than itself
        for text in _long_texts(call):
            if len(text) > longest:
                longest, texts = len(text), {text}
            elif len(text) == longest:
                texts.add(text)
    is_round = longest % 50 == 0 or longest & (longest - 1) == 0
    return longest if is_round and len(texts) >= _ALIKE else None


def _is_longer_than_kept(call: Call) -> bool:
    """A text has no fewer bytes than characters."""
    kept = call.args_json
    return call.args_bytes > len(kept) and call.args_bytes > len(kept.encode("utf-8", "surrogatepass"))


def _long_texts(call: TimelineCall) -> list[str]:
    """The values that are text. A bare token (a hash, an id) is as long as it is."""
    if call.call.args_bytes < _SHORTEST_CUT:
        return []
    return [text for text in _texts(_decoded(call.call.args_json)) if len(text) >= _SHORTEST_CUT and not _TOKEN.match(text)]


def _decoded(args_json: str) -> object:
    """None for what is no JSON. msgspec is fast and refuses more: half a surrogate pair, a number out of range."""
    try:
        return msgspec.json.decode(args_json)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        pass
    try:
        return json.loads(args_json)
    except (ValueError, RecursionError):
        return None


def _texts(value: object) -> list[str]:
    texts: list[str] = []
    pending = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, str):
            texts.append(item)
        elif isinstance(item, dict):
            pending.extend(item.values())
        elif isinstance(item, list):
            pending.extend(item)
    return texts
