"""When two calls are the same call with the same answer.

Strictly: the fingerprint that the client's guard uses, and the answer but for times, process ids and the like (each answer of a
shell names its process group, so byte by byte no two are alike). Loosely: also without the arguments in which a model explains
itself or that belong to one call only, and without times that are this call's own. The loose key finds loops that a changing
description hides (bytedance/deer-flow#1578, cline/cline#9933). It is shown as loose, with what it leaves out, and no guard is
ever replayed on it.

Where the arguments are not whole, or the answer is none of a tool's, there is no key: such calls are like no other.
"""

from __future__ import annotations

import re
import zlib
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec
from msgspec import Struct

from analysis.fingerprint import canonical_name
from analysis.turn_state import JudgedCall
from ingest.records import Call

Key = tuple[Any, ...]
"""Its last member is the answer's."""

_EXPLAINING = "comment description explanation rationale reason reasoning taskprogress thought thoughts"
_OF_ONE_CALL = "callid duration durationms elapsed elapsedms nonce now pid requestid timestamp toolcallid traceid ts"
_VOLATILE_NAMES = frozenset(f"{_EXPLAINING} {_OF_ONE_CALL}".split())
_OWN_TIMES = "its own time"
_ABOUT_NOW = 600
"""Seconds. A time in the arguments that is this near to the call's own says when it was made; any other names something."""
_TIME = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?|\b1[6-9]\d{8}(?:\d{3})?(?:\.\d+)?\b")
_SECONDS = 10
"""Digits of an epoch time in seconds."""
_FEWEST_REPEATS = 3
"""No detector fires on fewer."""


class LooseArguments(Struct, frozen=True):
    text: bytes
    ignored: tuple[str, ...]


class Comparison(Struct, frozen=True, eq=False):
    """One way of comparing the calls of a turn: the key of each, by its id() (the calls outlive their comparison)."""

    keys: dict[int, Key | None]
    ignored: dict[int, tuple[str, ...]]
    """What the keys leave out of the arguments; empty where the comparison is strict."""

    def key(self, call: JudgedCall) -> Key | None:
        return self.keys[id(call)]

    @property
    def confidence(self) -> str:
        return "probable" if self.ignored else "certain"

    def in_words(self, calls: Sequence[JudgedCall]) -> str:
        """How these calls, which have one key, are alike."""
        digests = {result.digest for call in calls if (result := call.of_batch.call.result) is not None}
        answered = "answered alike" if len(digests) == 1 else "answered alike but for times, process ids and the like"
        fingerprints = {call.of_batch.fingerprint for call in calls}
        if len(fingerprints) == 1:
            return f"with the same arguments, {answered}"
        ignored = dict.fromkeys(name for call in calls for name in self.ignored.get(id(call), ()))
        loose = zlib.crc32(repr(self.key(calls[0])).encode())
        return (
            f"with the same arguments but for {', '.join(ignored)} (loose key {loose:08x}; a guard's fingerprint tells "
            f"{len(fingerprints)} calls apart), {answered}"
        )


def comparisons(calls: Sequence[JudgedCall], fewest: int = _FEWEST_REPEATS) -> list[Comparison]:
    """The strict one, and the loose one where it can make a difference to somebody who looks for so many equal calls."""
    strict: dict[int, Key | None] = {id(call): _strict_key(call) for call in calls}
    found = [Comparison(strict, {})]
    same_answer: dict[tuple[str, object], list[JudgedCall]] = {}
    for call in calls:
        if (key := strict[id(call)]) is not None:
            same_answer.setdefault((call.of_batch.call.call.tool, key[-1]), []).append(call)
    often = [call for alike in same_answer.values() if len(alike) >= fewest for call in alike]
    if often:
        loose = {id(call): loose_arguments(call) for call in often}
        ignored = {of: arguments.ignored for of, arguments in loose.items() if arguments is not None and arguments.ignored}
        if ignored:
            keys = {id(call): _loose_key(call, strict[id(call)], loose.get(id(call))) for call in calls}
            found.append(Comparison(keys, ignored))
    return found


def most_alike(calls: Sequence[JudgedCall]) -> int:
    """How many calls, at most, have one key in any comparison: the last member of each is the answer's."""
    answers = [answer for call in calls if (answer := answer_key(call)) is not None]
    return max(Counter(answers).values()) if len(set(answers)) < len(answers) else min(1, len(answers))


def answer_key(call: JudgedCall) -> bytes | None:
    """What tells a tool's answers apart; None where there is none, or one that the client wrote itself."""
    result = call.of_batch.call.result
    if result is None or result.answer != "tool":
        return None
    return result.stable_digest or result.digest


def _strict_key(call: JudgedCall) -> Key | None:
    answer, fingerprint = answer_key(call), call.of_batch.fingerprint
    return None if answer is None or fingerprint is None else (fingerprint, answer)


def _loose_key(call: JudgedCall, strict: Key | None, loose: LooseArguments | None) -> Key | None:
    if strict is None or loose is None:
        return strict
    return (canonical_name(call.of_batch.call.call.tool), loose.text, strict[-1])


def loose_arguments(call: JudgedCall) -> LooseArguments | None:
    """None for arguments that are no object, or longer than what the store keeps of them."""
    args = _decoded(call.of_batch.call.call)
    if args is None:
        return None
    ignored = [name for name in args if _plain(name) in _VOLATILE_NAMES]
    kept = {name: value for name, value in args.items() if name not in ignored}
    if not kept:
        ignored, kept = [], args
    text = msgspec.json.encode(kept, order="sorted").decode()
    without_own_times = _without_own_times(text, call.of_batch.call.record.ts)
    if without_own_times != text:
        ignored.append(_OWN_TIMES)
    return LooseArguments(without_own_times.encode(), tuple(ignored))


def _decoded(call: Call) -> dict[str, Any] | None:
    try:
        whole = call.args_json.encode()
        args = msgspec.json.decode(whole) if len(whole) == call.args_bytes else None
    except (msgspec.DecodeError, UnicodeError):
        return None
    return args if isinstance(args, dict) else None


def _plain(name: str) -> str:
    return name.replace("_", "").replace("-", "").lower()


def _without_own_times(text: str, ts: int | None) -> str:
    if ts is None:
        return text
    return _TIME.sub(lambda found: "TIME" if _is_about(found[0], ts / 1_000_000) else found[0], text)


def _is_about(text: str, now: float) -> bool:
    if text.startswith("1") and text[:_SECONDS].isdigit():
        whole = text.partition(".")[0]
        seconds = float(text) if len(whole) == _SECONDS else int(whole) / 1000
    else:
        try:
            moment = datetime.fromisoformat(text)
        except ValueError:
            return False
        seconds = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    return abs(seconds - now) <= _ABOUT_NOW
