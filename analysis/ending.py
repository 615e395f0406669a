"""How a turn ended, and whether that rests on how long a tool may take.

The limits of tools come from the corpus and change with it; whoever keeps findings has to know which to make anew then. So the
turn is judged without them first, and with them only where that cannot be done.
"""

from __future__ import annotations

from msgspec import Struct

from analysis.liveness import UNLEARNT, Liveness, NotYetLearnt
from analysis.stalls import stale_at
from analysis.turn_state import TurnState, Verdict
from analysis.verdicts import verdict_of


class Ending(Struct, frozen=True):
    verdict: Verdict
    stale_at: int | None
    """From when on silence is a reason to doubt that the turn runs, in microseconds since the epoch; None where it ended."""
    rests_on_a_limit: bool


def ending_of(state: TurnState, liveness: Liveness) -> Ending:
    """Raises NotYetLearnt where it rests on a limit and `liveness` is UNLEARNT."""
    try:
        return _ending(state, UNLEARNT, rests_on_a_limit=False)
    except NotYetLearnt:
        return _ending(state, liveness, rests_on_a_limit=True)


def _ending(state: TurnState, liveness: Liveness, *, rests_on_a_limit: bool) -> Ending:
    verdict = verdict_of(state, liveness)
    return Ending(verdict, stale_at(state, liveness) if verdict.open_ended else None, rests_on_a_limit)
