"""A guard that is not ours: whatever it does, out comes one known decision a call, or a GuardFailed that says why not."""

from __future__ import annotations

import traceback
from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from analysis.guards.base import DECISIONS, Answered, Decision, GuardFailed
from analysis.history import Batch, Handled

_SHOWN = 200


def checked(decisions: object, expected: int) -> list[Decision]:
    """Raises GuardFailed."""
    if not isinstance(decisions, list | tuple):
        raise GuardFailed(f"its decisions are no list but {_shown(decisions)}")
    if len(decisions) != expected:
        raise GuardFailed(f"{len(decisions)} decisions for {expected} calls")
    for decision in decisions:
        if not isinstance(decision, str) or decision not in DECISIONS:
            raise GuardFailed(f"{_shown(decision)} is no decision: {', '.join(sorted(DECISIONS))}")
    return [*decisions]


class PythonGuard(Struct, frozen=True):
    """An object from somebody's module, which may lack a description and may raise."""

    name: str
    about: str
    guard: Any

    def decide(self, batch: Batch, handled: Handled, answered: Answered) -> Sequence[Decision]:
        try:
            decisions = self.guard.decide(batch, handled, answered)
        except KeyboardInterrupt:
            raise
        except BaseException as e:  # SystemExit too: it would end the run with a code of the guard's choosing
            where = traceback.extract_tb(e.__traceback__)[-1]
            raise GuardFailed(f"it raised {type(e).__name__}: {_shown(str(e))} ({where.filename}:{where.lineno})") from e
        return checked(decisions, len(batch.calls))


def _shown(value: object) -> str:
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "..."
