"""What a case is: a log, and what has to be said of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tests.support.log_script import Log

FIRST, COLLISION, REPLAY = "first-use", "collision", "replay"
SAME_RESPONSE, NO_ID, UNKNOWN = "same-response", "no-id", "unknown"

SUPPRESS, TRIP, DROP = "suppress", "trip", "drop"
COUNTERFACTUAL_SUPPRESS, COUNTERFACTUAL_TRIP = "suppress (counterfactual)", "trip (counterfactual)"
COUNTERFACTUAL_DROP, COUNTERFACTUAL_EXECUTE = "drop (counterfactual)", "execute (counterfactual)"

Decisions = Mapping[str, str]
"""Call (`turn.response.call`) -> decision, with ` (counterfactual)` behind it after the guard's first divergence.

A call left out is executed, and that is observed. After its trip a guard decides nothing more in that turn.
"""


@dataclass(frozen=True, kw_only=True)
class Case:
    name: str
    """The case's number, and what this form of it is about; also the session's id."""
    reports: str
    log: Log
    classes: tuple[str, ...]
    outcomes: tuple[str, ...] | None = None
    """None: all executed."""
    id_breaker: Decisions = field(default_factory=dict)
    fingerprint: Decisions = field(default_factory=dict)
    verdict: str | None = "completed"
    """The session's, `completed` where the case says nothing; None where the log just ends and the case is not about how."""
    turn_verdicts: tuple[str, ...] = ()
    """Where one turn ends otherwise than the session."""
    looping: str | None = None
    """Kind of the last turn's loop."""
    guard_in_force: str = "none"
    notes: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    """Call, counted over the session from 1 -> what the reason beside its class has to say. All others have no reason."""
    classes_by_call_half: tuple[str | None, ...] | None = None
    """None: no id is composite."""
    tools: tuple[str, ...] | None = None
    problems: tuple[tuple[str, str], ...] = ()
    """Kind, and what the detail has to name."""
    trip_class: str | None = None
    """Class of the call on which the guard by id trips: `collision` is a false positive."""
    id_schemes: tuple[str, ...] = ()
    """What has to be said of the id scheme. NOT ASSERTED YET: the view `id_schemes` comes with a later issue."""
