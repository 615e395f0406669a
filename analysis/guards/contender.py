"""A guard in the world in which it is tried.

The shipped world is the client's: what counts as handled and when the answered ids are forgotten follows from the entry point.
A what-if may change either, for one guard, without a line of code (`what_if.py`).
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from analysis.guards.base import Guard
from analysis.history import DAEMONS, Scope

Clears = Literal["entry-point", "prompt", "user-prompt", "never"]
"""When the answered ids are forgotten. `entry-point`: as the client has it; `prompt`: at every turn; `user-prompt`: at a
person's alone; `never`: an id answered once stays so for the session."""
CLEARS: tuple[Clears, ...] = ("entry-point", "prompt", "user-prompt", "never")


RestsOn = Literal["ids", "ids-and-turn", "anything"]
"""On what a guard's decisions rest, so that it need not be asked where that says nothing. `ids`: whatever comes under a new id
is run. `ids-and-turn`: that is so where no two calls of the turn can be equal. `anything`: all guards that are not ours."""


class World(Struct, frozen=True):
    scope: Scope = "entry-point"
    clears: Clears = "entry-point"


AS_SHIPPED = World()


class Contender(Struct, frozen=True):
    guard: Guard
    source: str
    """`built-in`, or what stands behind it: a command, a file, settings."""
    world: World = AS_SHIPPED
    rests_on: RestsOn = "anything"

    @property
    def name(self) -> str:
        return self.guard.name

    @property
    def can_skip_new_ids(self) -> bool:
        return self.rests_on == "ids" and self.world.scope == "entry-point"

    @property
    def can_skip_new_calls(self) -> bool:
        return self.rests_on in ("ids", "ids-and-turn") and self.world.scope == "entry-point"


def clears_answered(clears: Clears, entry_point: str, origin: str) -> bool:
    """Whether a turn starts with no id answered: in the client always, but for a daemon's cron and background turns (code,
    0.24.4)."""
    is_automatic = origin in ("cron", "notification")
    match clears:
        case "prompt":
            return True
        case "user-prompt":
            return not is_automatic
        case "never":
            return False
        case "entry-point":
            return entry_point not in DAEMONS or not is_automatic
