"""PR #5657, shipped in 0.21: the id alone, and a breaker. It takes a model that numbers its calls anew for one that replays."""

from __future__ import annotations

from analysis.guards.id_only import IdOnly


class IdBreaker(IdOnly, frozen=True):
    name: str = "id-breaker"
    about: str = "answers a repeated provider id once, then ends the turn (PR #5657, shipped in 0.21)"
    trips_after: int | None = 1
