"""The repeat key of a tool call, byte for byte as Qwen Code computes it from version 0.23.

The key is the SHA-256 of `canonical name ":" canonical JSON of the arguments` in UTF-8. One byte off and a replay
reads as a fresh call, so the JSON is what JavaScript's `JSON.stringify` prints after the client has sorted the keys,
not what Python would print: numbers are doubles, keys that look like array indices come first, keys sort by UTF-16
code units.

Most arguments are short objects of ASCII keys, texts, booleans and small integers, for which msgspec prints the same
bytes at a small part of the cost. `_is_plain` says when that holds; everything else takes the exact path. The two
must agree on all that `_is_plain` lets through, and a test searches for a value on which they do not.

Source of the rules: the client's getToolCallRepeatKey and canonicalizeForHash in 0.24.4, asked through its own code.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from hashlib import sha256
from math import isfinite
from typing import Any

import msgspec

_CURRENT_NAMES = {"search_file_content": "grep_search", "replace": "edit", "task": "agent"}

_ARRAY_INDEX = re.compile(r"0|[1-9][0-9]{0,9}")
_LARGEST_ARRAY_INDEX = 2**32 - 2
_EXACT_INTEGERS = 2**53
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_PRINTED_ALIKE = frozenset({str, bool, type(None)})
_PLAIN_DEPTH = 64  # well below where recursion ends; deeper arguments are rare enough for the exact path
_plain_json = msgspec.json.Encoder(order="sorted").encode


def canonical_name(tool: str) -> str:
    """The tool's current name for one of its three retired ones. Case counts, and display names are no aliases."""
    return _CURRENT_NAMES.get(tool, tool)


def fingerprint(tool: str, args: object) -> tuple[bytes, bytes]:
    """The 32-byte key of a call and the canonical JSON of its arguments.

    `args` is a decoded JSON value, infinities for numbers out of range included; None counts as no arguments, `{}`.
    Any value that a JSON decoder returns has a key: nothing is raised, whatever its depth, size or characters. That
    the client takes arguments that are no object for `{}` happens before its guard and so is the reader's business,
    not the key's.
    """
    canonical = canonical_json({} if args is None else args)
    return sha256(_name_in_utf8(canonical_name(tool)) + b":" + canonical).digest(), canonical


def _name_in_utf8(name: str) -> bytes:
    try:
        return name.encode()
    except UnicodeEncodeError:
        # The client hashes a JavaScript string: half a surrogate pair becomes U+FFFD on its way to UTF-8.
        return _LONE_SURROGATE.sub("\ufffd", name).encode()


def canonical_json(value: object) -> bytes:
    if _is_plain(value, _PLAIN_DEPTH):
        try:
            return _plain_json(value)
        except UnicodeEncodeError:  # a lone surrogate: cheaper to be told than to look for it in every text
            pass
    return exact_canonical_json(value)


def _is_plain(value: object, depth: int) -> bool:
    if isinstance(value, dict):
        for key, member in value.items():
            # A first digit may make an array index; beyond ASCII the two orders of keys part.
            if not key.isascii() or "0" <= key[:1] <= "9":
                return False
            if type(member) not in _PRINTED_ALIKE and not (depth and _is_plain(member, depth - 1)):
                return False
        return True
    if isinstance(value, list):
        return all(type(item) in _PRINTED_ALIKE or (depth and _is_plain(item, depth - 1)) for item in value)
    if type(value) is int:
        return -_EXACT_INTEGERS <= value <= _EXACT_INTEGERS
    return type(value) in _PRINTED_ALIKE


def exact_canonical_json(value: object) -> bytes:
    """As `canonical_json`, without the short cut."""
    return _printed(value, _javascript_key_order)


def unsorted_json(value: object) -> bytes:
    """What JavaScript prints without the client's sorting: of two orders of the same keys it makes two texts."""
    return _printed({} if value is None else value, _javascript_object_order)


def _printed(value: object, order: Callable[[str], tuple[bool, int, bytes]]) -> bytes:
    """Iterative: a hostile log nests deeper than Python recurses."""
    printed: list[str] = []
    pending: list[tuple[bool, Any]] = [(False, value)]  # (is it printed text or still a value, it), next one last
    while pending:
        is_text, item = pending.pop()
        if is_text:
            printed.append(item)
        elif isinstance(item, dict):
            printed.append("{")
            pending.append((True, "}"))
            keys = sorted(item, key=order)
            for position in range(len(keys) - 1, -1, -1):
                pending.append((False, item[keys[position]]))
                pending.append((True, ("," if position else "") + _text(keys[position]) + ":"))
        elif isinstance(item, list):
            printed.append("[")
            pending.append((True, "]"))
            for position in range(len(item) - 1, -1, -1):
                pending.append((False, item[position]))
                if position:
                    pending.append((True, ","))
        else:
            printed.append(_scalar(item))
    return "".join(printed).encode()


def _javascript_key_order(key: str) -> tuple[bool, int, bytes]:
    """Array indices first, by number, as JavaScript objects keep them; then the client's sort, by UTF-16 unit."""
    if _ARRAY_INDEX.fullmatch(key) and int(key) <= _LARGEST_ARRAY_INDEX:
        return False, int(key), b""
    return True, 0, key.encode("utf-16-be", "surrogatepass")


def _javascript_object_order(key: str) -> tuple[bool, int, bytes]:
    """Array indices first, by number, the others as they came."""
    is_other, index, _ = _javascript_key_order(key)
    return is_other, index, b""


def _scalar(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, int | float):
        return _number(value)
    raise TypeError(f"{type(value).__name__} is no JSON value")


def _text(value: str) -> str:
    return _LONE_SURROGATE.sub(lambda half: f"\\u{ord(half[0]):04x}", json.dumps(value, ensure_ascii=False))


def _number(value: float) -> str:
    """As ECMAScript's Number::toString prints the double; what is no finite double is `null` in JSON."""
    try:
        double = float(value)
    except OverflowError:
        return "null"
    if not isfinite(double):
        return "null"
    if double == 0:
        return "0"
    sign = "-" if double < 0 else ""
    mantissa, _, exponent = repr(abs(double)).partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    point = len(whole) + int(exponent or 0) - (len(whole + fraction) - len(digits))  # digits before the decimal point
    digits = digits.rstrip("0")
    if len(digits) <= point <= 21:
        return sign + digits + "0" * (point - len(digits))
    if 0 < point <= 21:
        return f"{sign}{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    tail = "." + digits[1:] if len(digits) > 1 else ""
    return f"{sign}{digits[0]}{tail}e{point - 1:+d}"
