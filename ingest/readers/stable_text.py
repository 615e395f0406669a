"""An answer's text without what changes from one run to the next: two that are equal then say the same.

Taken out: times of the day with or without a date, durations with their unit, epoch times, numbers named as a process id or a
duration, UUIDs and paths of temporary files. Kept: every other number (a count that grows is progress), a date that stands
alone (it names things), and digests. Where a client puts a large output into a file and a stub into the log, the stub names the
digest of the output and a path of its own for each call: then the digest decides and every path goes.

Without this no two runs of one command are alike in a log of Qwen Code: each answer ends with the id of its process group.
"""

from __future__ import annotations

import re

_TIME = re.compile(
    rb"""[0-9] (?: (?<= \\[nrt][0-9] ) | (?<! [0-9A-Za-z_.][0-9] ) ) (?:
      [0-9]{3}-[0-9]{2}-[0-9]{2} (?:T|\ ) [0-9]{2}:[0-9]{2} (?: :[0-9]{2} (?:[.,][0-9]+)? )?
      (?: \ ?Z | [+-][0-9]{2}:?[0-9]{2} )?
    | [0-9]? :[0-9]{2}:[0-9]{2} (?:[.,][0-9]+)?
    | (?<=1) [6-9][0-9]{8} (?:[0-9]{3}){0,3} (?:\.[0-9]+)? (?![0-9A-Za-z])
    | [0-9]* (?:\.[0-9]+)?
      (?: m[0-9]+ (?:\.[0-9]+)? s | \ ?(?: ms | us | ns | s | secs? | seconds? | mins? | minutes? | hours? ) ) (?![0-9A-Za-z_])
    )""",
    re.VERBOSE,
)
"""It begins with a digit, so that the search skips from digit to digit, and only then looks back for the number's beginning: a
letter before it is part of the number's word, unless it is that of an escaped line end or tab."""

_NAMED = re.compile(
    rb"""( (?: \b | (?<= \\[nrt] ) )
           (?: p?pids? | pgid | duration | elapsed | took | uptime | latency ) (?: _?(?:ms|s|sec|seconds) )?
           (?:\\?")? \ ?[:=\ ] \ ? (?:\\?")? ) (?: [0-9]+ (?:\.[0-9]+)? | \(none\) )""",
    re.VERBOSE | re.IGNORECASE,
)
_UUID = re.compile(rb"(?i)[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_END_OF_UUID = re.compile(rb"-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}")
_RANDOM_TEMPORARY = re.compile(
    rb"""/ (?: tmp | temp | var/folders ) /
         [^\s"'\\]*? (?: [0-9a-f]{6} | call_ | tmp[._]?[A-Za-z0-9]{6} ) [^\s"'\\]*""",
    re.VERBOSE,
)
_OWN_DIGEST = re.compile(rb"(?i)sha-?256[\"\\]*[:=]?\s?[\"\\]*[0-9a-f]{64}")
_LINE_END = rb"\n"
"""As JSON spells it. Nothing that is taken out goes beyond a line, but for the paths of a stub."""
_PATH = re.compile(rb"""/ [^\s"'()<>\\]+ | [A-Za-z]: (?: \\\\ [^\s"'()<>\\]+ )+""", re.VERBOSE)


def same_but_for_volatile(one: bytes, other: bytes) -> bool:
    """Of two answers, as JSON. Line by line: most pairs part at their first line, and taking the volatile parts out of whole
    answers to see it cost a quarter of the reading where a session repeats its calls."""
    if _names_its_digest(one) or _names_its_digest(other):
        return stable_text(one) == stable_text(other)
    lines, other_lines = one.split(_LINE_END), other.split(_LINE_END)
    if len(lines) != len(other_lines):
        return False
    return all(line == told or stable_text(line) == stable_text(told) for line, told in zip(lines, other_lines, strict=True))


def _names_its_digest(text: bytes) -> bool:
    return b"256" in text and _OWN_DIGEST.search(text) is not None


def stable_text(text: bytes) -> bytes:
    """`text` is JSON, and what comes back need not be."""
    if _names_its_digest(text):
        text = _PATH.sub(b"PATH", text)
    elif b"/tmp/" in text or b"/temp/" in text or b"/var/folders/" in text:
        text = _RANDOM_TEMPORARY.sub(b"PATH", text)
    if _END_OF_UUID.search(text):
        text = _UUID.sub(b"UUID", text)
    return _TIME.sub(b"TIME", _NAMED.sub(rb"\1N", text))
