"""Counterfactual, shipped nowhere: the same tool and arguments again in one turn, under another id.

What no guard that goes by ids can see: a model that puts an action to a person again and again under fresh ids. The price is an
honest second run of the same call, which it takes for a repeat: tests after an edit, a poll. A repeat under the same id it
leaves to the guards that go by ids, and it never ends a turn. Of equal calls in one response the first runs, so that it makes
no difference whether they come in one response or in several.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from itertools import islice

from msgspec import Struct

from analysis.guards.base import Answered, Decision
from analysis.history import Batch, BatchCall, Handled
from analysis.timeline import Turn

_WAS_HANDLED = ("tool", "cancelled")


class ArgsDedup(Struct, frozen=True):
    name: str = "args-dedup"
    about: str = "answers a call whose tool and arguments were handled in the turn under another id (never shipped)"

    def decide(self, batch: Batch, handled: Handled, answered: Answered) -> list[Decision]:
        first, now = _first_handled(batch.turn), batch.response.no
        has_begun = any(number < now for number in islice(first.values(), 1))
        beside: set[bytes | None] = set()

        def was_seen(fingerprint: bytes | None) -> bool:
            return fingerprint in beside or first.get(fingerprint, now) < now

        decisions: list[Decision] = []
        for call in batch.calls:
            decision = _decision(call, handled, was_seen, has_begun or bool(beside))
            decisions.append(decision)
            if decision == "execute" and call.provider_id is not None:
                beside.add(call.fingerprint)
        return decisions


@lru_cache(maxsize=1)
def _first_handled(turn: Turn) -> dict[bytes | None, int]:
    """By fingerprint the first response with a call that was run or refused; None stands for arguments that are not whole.

    A turn is asked about once a response, and walking it anew each time would cost its length squared.
    """
    first: dict[bytes | None, int] = {}
    for response in turn.responses:
        for call in response.calls:
            if call.result is not None and call.result.answer in _WAS_HANDLED:
                first.setdefault(call.fingerprint, response.no)
    return first


def _decision(call: BatchCall, handled: Handled, was_seen: Callable[[bytes | None], bool], anything_seen: bool) -> Decision:
    """Without an id nothing tells whether it is another one; arguments that are not whole could be the same as any."""
    if call.same_response:
        return "drop"
    if call.provider_id is None or not anything_seen:
        return "execute"
    if call.fingerprint is None:
        return "unknown"
    if was_seen(call.fingerprint):
        return "execute" if handled.has_fingerprint(call.provider_id, call.fingerprint) else "suppress"
    return "unknown" if was_seen(None) else "execute"
