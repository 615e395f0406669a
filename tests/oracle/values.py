"""Argument texts to ask the client about: ordinary, nested, hostile, large, and pairs that are nearly the same.

A value is drawn as a tree, then spelled as JSON in one of the ways that JSON allows (order of members, escapes, white space,
forms of a number, members told twice). Its near twin is the same tree spelled otherwise, or the tree with one small change.
All from one seed, so that a difference can be looked at again.
"""

from __future__ import annotations

import json
import math
import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Any

from msgspec import Struct


class Number(Struct, frozen=True):
    """A number in the very digits in which it is sent."""

    text: str


@dataclass
class Members:
    """An object. A key may stand twice: the last one counts."""

    pairs: list[tuple[str, Any]]


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


TOOLS = _words("run_shell_command read_file edit replace task agent grep_search search_file_content mcp__x__y")
ODD_TOOLS = ("", "Replace", "toString", "__proto__", "constructor", "工具", "a:b", 'quote"d', "tab\t", "\u2028", "half\ud800")

_KEYS = _words("command file_path old_string new_string is_background timeout description pattern offset")
_ODD_KEYS = (
    *("", "0", "00", "01", "7", "10", "9", "-1", "1.5", "1e3"),
    *("4294967293", "4294967294", "4294967295", "4294967296", "99999999999"),
    *("__proto__", "constructor", "toJSON", "toString", "length"),
    *("é", "e\u0301", "\ud7ff", "\ue000", "\uffff", "\U0001f600", "😀a", "\ud800", "\udfff", "٣", "²"),
    *("A", "a", "a ", "_", "\x7f", "\x00", '"', "\\", "/"),
)
_WORDS = (*_words("ls -la cat src/app.py && echo git status -- | head 日本 naïve $HOME"), "'x y'", "\n")
_ODD_CHARACTERS = (
    "\x00\x01\x08\t\n\x0b\f\r\x1f \"\\/<>&'\x7f\x80\x85\xa0\xad"
    "\u0300\u200b\u2028\u2029\ufeff\ufffd\uffff\ud800\udbff\udc00\udfff😀𐀀"
)
_ODD_NUMBERS = _words("""
    0 -0 0.0 -0.0 1 1.0 1e0 10e-1 5000 5000.0 5e3 0.1 0.10 1E5 1e+5 1e00005 4.35 0.3 0.30000000000000004
    1e20 1e21 999999999999999999999 123456789012345680000 1e-6 1e-7 0.000001 0.0000001
    9007199254740991 9007199254740992 9007199254740993 -9007199254740993 9223372036854775807 9223372036854775808
    18446744073709551615 18446744073709551616 1e308 1.8e308 1e309 -1e400 5e-324 2e-324 2.2250738585072014e-308
""")


def questions(rng: Random, count: int) -> Iterator[dict[str, Any]]:
    """At least `count`; a near twin directly follows its twin and carries `twin: true`."""
    made = 0
    while made < count:
        tool = rng.choice(TOOLS) if rng.random() < 0.95 else rng.choice(ODD_TOOLS)
        tree = _tree(rng)
        yield {"ask": "key", "tool": tool, "text": spell(rng, tree, freely=rng.random() < 0.5)}
        made += 1
        if rng.random() < 0.5:
            near = tree if rng.random() < 0.4 else _changed(rng, tree)
            yield {"ask": "key", "tool": tool, "text": spell(rng, near, freely=True), "twin": True}
            made += 1


def _tree(rng: Random) -> Any:
    kind = rng.random()
    if kind < 0.35:
        return _ordinary(rng)
    if kind < 0.97:
        return Members([(_key(rng), _value(rng, rng.randint(0, 5))) for _ in range(rng.randint(0, 6))])
    if kind < 0.98:
        return rng.choice((None, _value(rng, 2)))  # the guard never gets these, but the key takes them
    return _large(rng)


def _ordinary(rng: Random) -> Members:
    keys = rng.sample(_KEYS, rng.randint(1, 4))
    return Members([(key, _ordinary_value(rng)) for key in keys])


def _ordinary_value(rng: Random) -> Any:
    kind = rng.random()
    if kind < 0.65:
        return " ".join(rng.choices(_WORDS, k=rng.randint(1, 8)))
    return rng.random() < 0.5 if kind < 0.75 else Number(str(rng.randint(0, 600)))


def _large(rng: Random) -> Members:
    match rng.randrange(4):
        case 0:
            return Members([("content", _text(rng, rng.randint(2_000, 12_000)))])
        case 1:
            return Members([(_key(rng), _value(rng, 1)) for _ in range(rng.randint(80, 300))])
        case 2:
            return Members([("rows", [_value(rng, 1) for _ in range(rng.randint(100, 400))])])
        case _:
            value = _value(rng, 0)
            for _ in range(rng.randint(50, 300)):
                value = [value] if rng.random() < 0.5 else Members([(_key(rng), value)])
            return Members([("deep", value)])


def _value(rng: Random, depth: int) -> Any:
    kind = rng.random()
    if depth and kind < 0.22:
        return Members([(_key(rng), _value(rng, depth - 1)) for _ in range(rng.randint(0, 5))])
    if depth and kind < 0.38:
        return [_value(rng, depth - 1) for _ in range(rng.randint(0, 5))]
    if kind < 0.62:
        return _number(rng)
    if kind < 0.9:
        return _text(rng, rng.choice((0, 1, 2, 3, 8, 20)))
    return rng.choice((None, True, False))


def _key(rng: Random) -> str:
    kind = rng.random()
    if kind < 0.4:
        return rng.choice(_KEYS)
    if kind < 0.8:
        return rng.choice(_ODD_KEYS)
    return str(rng.randrange(2 ** rng.randint(1, 34))) if kind < 0.9 else _text(rng, rng.randint(1, 4))


def _text(rng: Random, length: int) -> str:
    kind = rng.random()
    if kind < 0.3:
        return "".join(rng.choices(_ODD_CHARACTERS, k=length))
    if kind < 0.5:
        return "".join(chr(rng.randrange(2 ** rng.choice((7, 8, 11, 16)))) for _ in range(length))
    if kind < 0.6:
        return "".join(chr(rng.randrange(0x110000)) for _ in range(length))
    return "".join(rng.choices("abcdefgh XYZ019_-./", k=length))


def _number(rng: Random) -> Number:
    match rng.randrange(7):
        case 0 | 1:
            return Number(rng.choice(_ODD_NUMBERS))
        case 2:  # any double there is
            (double,) = struct.unpack("<d", rng.randbytes(8))
            return Number(repr(double) if math.isfinite(double) else "-1e999")
        case 3:  # around the powers of two and ten, where printing changes its form
            base = 2 ** rng.randint(0, 70) if rng.random() < 0.5 else 10 ** rng.randint(0, 23)
            return Number(str(rng.choice((1, -1)) * (base + rng.randint(-2, 2))))
        case 4:
            return Number(f"{_digits(rng).lstrip('0') or '0'}.{_digits(rng)}")
        case 5:
            exponent = rng.choice("eE") + rng.choice(("", "+", "-")) + str(rng.randint(0, 330))
            return Number(f"{rng.choice(('', '-'))}{rng.randint(1, 9999)}{exponent}")
        case _:
            return Number(str(rng.randint(-1000, 100_000)))


def _digits(rng: Random) -> str:
    return "".join(rng.choices("0123456789", k=rng.randint(1, 25)))


def _changed(rng: Random, tree: Any) -> Any:
    """The tree with one small change somewhere: a space, a neighbouring double, another letter case, a member more or less."""
    if isinstance(tree, Members) and tree.pairs and rng.random() < 0.85:
        at = rng.randrange(len(tree.pairs))
        key, value = tree.pairs[at]
        pairs = list(tree.pairs)
        match rng.randrange(8):
            case 0:
                del pairs[at]
            case 1:
                pairs[at] = (key + rng.choice((" ", "0", "\u0301")), value)
            case 2:
                pairs.insert(rng.randint(0, len(pairs)), (_key(rng), None))
            case _:
                pairs[at] = (key, _changed(rng, value))
        return Members(pairs)
    if isinstance(tree, list) and tree and rng.random() < 0.85:
        at = rng.randrange(len(tree))
        return [*tree[:at], _changed(rng, tree[at]), *tree[at + 1 :]] if rng.random() < 0.8 else [*tree[:at], *tree[at + 1 :]]
    if isinstance(tree, str):
        return rng.choice((tree + " ", tree.swapcase(), tree[1:], tree + "\u200b", tree.replace("\n", "\r\n")))
    if isinstance(tree, Number):
        near = float(tree.text)
        if not math.isfinite(near):
            return rng.choice((None, Number("1.7976931348623157e308")))
        return Number(repr(rng.choice((near, math.nextafter(near, 1), near + 1, -near)))) if abs(near) < 1e300 else Number("0")
    return rng.choice((None, False, Number("0"), "", [], Members([])))


def spell(rng: Random, tree: Any, *, freely: bool) -> str:
    """One JSON text of the tree, in ASCII where half a surrogate pair needs its escape."""
    written: list[str] = []
    pending: list[Any] = [tree]  # the next one last; texts of punctuation are wrapped so as not to be spelled
    while pending:
        item = pending.pop()
        if isinstance(item, _Mark):
            written.append(item.text)
        elif isinstance(item, Members):
            pairs = list(item.pairs)
            if freely and rng.random() < 0.1 and pairs:
                pairs.insert(0, (rng.choice(pairs)[0], Number("1")))  # told again later
            elif freely and len({key for key, _ in pairs}) == len(pairs):
                rng.shuffle(pairs)
            pending.append(_Mark("}"))
            for position in range(len(pairs) - 1, -1, -1):
                key, value = pairs[position]
                pending += (value, _Mark((", " if freely else ",") * bool(position) + _spelled(rng, key, freely) + ":"))
            pending.append(_Mark("{"))
        elif isinstance(item, list):
            pending.append(_Mark("]"))
            for position in range(len(item) - 1, -1, -1):
                pending.append(item[position])
                if position:
                    pending.append(_Mark(", " if freely else ","))
            pending.append(_Mark("["))
        elif isinstance(item, Number):
            written.append(item.text)
        elif isinstance(item, str):
            written.append(_spelled(rng, item, freely))
        else:
            written.append(json.dumps(item))
    return "".join(written)


class _Mark(Struct, frozen=True):
    text: str


_HALF = re.compile("[\ud800-\udfff]")


def _spelled(rng: Random, text: str, freely: bool) -> str:
    if freely and rng.random() < 0.3:
        return json.dumps(text)
    plain = json.dumps(text, ensure_ascii=False)
    if freely and rng.random() < 0.3:
        pieces = (json.dumps(piece, ensure_ascii=False)[1:-1] for piece in text.split("a"))
        plain = '"' + "\\u0061".join(pieces).replace("/", "\\/") + '"'
    return _HALF.sub(lambda half: f"\\u{ord(half[0]):04X}", plain)
