"""No guard: every call is run. Qwen Code up to 0.15.10, and every other client seen so far but Mistral Vibe."""

from __future__ import annotations

from msgspec import Struct

from analysis.guards.base import Answered, Decision
from analysis.history import Batch, Handled


class NoGuard(Struct, frozen=True):
    name: str = "none"
    about: str = "runs every call"

    def decide(self, batch: Batch, handled: Handled, answered: Answered) -> list[Decision]:
        return ["execute"] * len(batch.calls)
