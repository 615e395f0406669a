"""No guard: every call is run. Qwen Code up to 0.15.10, and every other client seen so far but Mistral Vibe."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from analysis.guards.base import Answered, Decision
from analysis.history import BatchCall, Handled


class NoGuard(Struct, frozen=True):
    name: str = "none"
    about: str = "runs every call"

    def decide(self, calls: Sequence[BatchCall], handled: Handled, answered: Answered) -> list[Decision]:
        return ["execute"] * len(calls)
