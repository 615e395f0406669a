"""How a verdict, an outcome and a class look: one colour, one symbol and one letter each, the same on every page.

Colour is never the only signal (the symbol or the letter says the same), and every colour is of middling lightness so that it
reads on Streamlit's light and its dark ground alike. A word that is not known here gets the look of `unknown`: a newer store
must not break an older page.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

CALM = "#5b8db8"
GREEN = "#4f9d84"
RED = "#d1495b"
ORANGE = "#d98032"
AMBER = "#c2a033"
VIOLET = "#8b7cc4"
GREY = "#8c939c"


class Look(NamedTuple):
    colour: str
    sign: str
    """The character that stands for it in text."""
    symbol: str = "circle"
    """Plotly's name of the marker, where the word is drawn as one."""


UNKNOWN = Look(GREY, "?", "diamond-open")

VERDICTS: dict[str, Look] = {
    "silent-hang": Look(RED, "■"),
    "provider-error": Look(ORANGE, "▲"),
    "stopped-visibly": Look(AMBER, "◆"),
    "truncated": Look(VIOLET, "◧"),
    "unknown": UNKNOWN,
    "waiting-for-human": Look(CALM, "◔"),
    "running": Look(CALM, "▶"),
    "cancelled": Look(GREY, "✕"),
    "completed": Look(GREEN, "●"),
}

OUTCOMES: dict[str, Look] = {
    "executed": Look(GREEN, "●", "circle"),
    "failed": Look(ORANGE, "▲", "triangle-up"),
    "suppressed": Look(VIOLET, "■", "square"),
    "dropped": Look(RED, "✖", "x"),
    "skipped": Look(AMBER, "◆", "diamond"),
    "cancelled": Look(GREY, "✚", "cross"),
    "unanswered": Look(RED, "○", "circle-open"),
    "unknown": UNKNOWN,
}

CLASS_LETTERS: dict[str, str] = {
    "first-use": "",
    "collision": "C",
    "replay": "R",
    "same-response": "S",
    "no-id": "N",
    "unknown": "?",
}


def of_verdict(verdict: str) -> Look:
    return VERDICTS.get(verdict, UNKNOWN)


def of_outcome(outcome: str) -> Look:
    return OUTCOMES.get(outcome, UNKNOWN)


def verdict_words(verdict: str) -> str:
    """The sign and the word: what a table cell says of a verdict."""
    return f"{of_verdict(verdict).sign} {verdict}"


def outcome_words(outcome: str) -> str:
    return f"{of_outcome(outcome).sign} {outcome}"


Badge = Literal["red", "orange", "yellow", "violet", "blue", "green", "gray"]

_BADGES: dict[str, Badge] = {
    RED: "red",
    ORANGE: "orange",
    AMBER: "yellow",
    VIOLET: "violet",
    CALM: "blue",
    GREEN: "green",
    GREY: "gray",
}


def badge_colour(verdict: str) -> Badge:
    """Streamlit's name of the verdict's colour."""
    return _BADGES[of_verdict(verdict).colour]
