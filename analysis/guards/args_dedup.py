"""Counterfactual, shipped nowhere: the same tool and arguments again in one turn, under another id.

What no guard that goes by ids can see: a model that puts an action to a person again and again under fresh ids. The price is an
honest second run of the same call, which it takes for a repeat: tests after an edit, a poll. A repeat under the same id it
leaves to the guards that go by ids, and it never ends a turn. Of equal calls in one response the first runs, so that it makes
no difference whether they come in one response or in several.
"""

from __future__ import annotations

from msgspec import Struct

from analysis.guards.base import Answered, Decision
from analysis.history import Batch, BatchCall, Handled

_WAS_HANDLED = ("tool", "cancelled")


class ArgsDedup(Struct, frozen=True):
    name: str = "args-dedup"
    about: str = "answers a call whose tool and arguments were handled in the turn under another id (never shipped)"

    def decide(self, batch: Batch, handled: Handled, answered: Answered) -> list[Decision]:
        seen = _handled_before(batch)
        decisions: list[Decision] = []
        for call in batch.calls:
            decision = _decision(call, handled, seen)
            decisions.append(decision)
            if decision == "execute" and call.provider_id is not None:
                seen.add(call.fingerprint)
        return decisions


def _handled_before(batch: Batch) -> set[bytes | None]:
    """Fingerprints of the calls of this turn that were run or refused; None for one whose arguments are not whole."""
    fingerprints: set[bytes | None] = set()
    for response in batch.turn.responses:
        if response is batch.response:
            break
        for call in response.calls:
            if call.result is not None and call.result.answer in _WAS_HANDLED:
                fingerprints.add(call.fingerprint)
    return fingerprints


def _decision(call: BatchCall, handled: Handled, seen: set[bytes | None]) -> Decision:
    """Without an id nothing tells whether it is another one; arguments that are not whole could be the same as any."""
    if call.same_response:
        return "drop"
    if call.provider_id is None or not seen:
        return "execute"
    if call.fingerprint is None:
        return "unknown"
    if call.fingerprint in seen:
        return "execute" if call.fingerprint in handled.all(call.provider_id) else "suppress"
    return "unknown" if None in seen else "execute"
