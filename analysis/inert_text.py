"""Log text made harmless to look at: what a terminal or a browser would act on is shown as an escape instead.

Session ids, tool names, arguments and reasons come from logs, and a log can hold anything: escape sequences that repaint a
terminal, bidirectional overrides that swap `rm` and `mv` before the reader's eyes, line breaks that forge a second row.
"""

from __future__ import annotations

import unicodedata

# Cc controls (line breaks and tabs too), Cf invisible formatting, Cs lone surrogates (no encoder takes them), Zl/Zp line ends.
_ACTED_ON = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def inert(text: str) -> str:
    """The text on one line, each character that is acted on and not drawn replaced by its escape. Backslashes stay single."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(_escape(character) if unicodedata.category(character) in _ACTED_ON else character for character in text)


def shortened(text: str, limit: int) -> str:
    """At most `limit` characters of the inert text, the cut shown by an ellipsis."""
    shown = inert(text)
    return shown if len(shown) <= limit else shown[: limit - 1] + "…"


def _escape(character: str) -> str:
    code = ord(character)
    if character in _SHORT:
        return _SHORT[character]
    if code <= 0xFF:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
