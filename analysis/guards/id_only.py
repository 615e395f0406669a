"""PR #5038: a provider id that was handled before is answered synthetically, for ever and without a breaker."""

from __future__ import annotations

from analysis.guards.base import RepeatGuard
from analysis.history import BatchCall, Handled


class IdOnly(RepeatGuard, frozen=True):
    name: str = "id-only"
    about: str = "answers a repeated provider id instead of running it; never ends the turn (PR #5038)"
    trips_after: int | None = None

    def repeats(self, call: BatchCall, handled: Handled) -> bool | None:
        return call.provider_id is not None and handled.has(call.provider_id)
