"""Which session, or which turn of it, a person means by what they typed: the commands and the page take the same."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

_PLACE = re.compile(r"(?P<session>.+):(?P<turn>\d{1,9})(?:\.\d+){0,2}\Z", re.DOTALL)
"""More digits than these are no turn's number, and too many for a column of numbers."""


class Meant(NamedTuple):
    beginning: str
    """What the ids were to begin with."""
    sessions: list[str]
    """None where nothing fits, several where more of the id is needed."""
    turn_no: int | None


def meant(text: str, begin_with: Callable[[str], list[str]]) -> Meant:
    """A session, or one turn of it: `SESSION:TURN`, also with the response and call behind it, as places are printed.

    An id may end like a place (`...functions.edit:0`), so one that is there as a whole is meant. `begin_with` asks the store.
    """
    sessions = begin_with(text)
    place = _PLACE.match(text)
    if sessions or place is None:
        return Meant(text, sessions, None)
    return Meant(place["session"], begin_with(place["session"]), int(place["turn"]))
