"""The model sends one call again and again under one id."""

from __future__ import annotations

from collections import Counter

from analysis.detectors.base import Detector, Hit
from analysis.turn_state import TurnState
from analysis.verdicts import Verdict

REPLAYS = 3
"""Replays of one call in one turn. Fewer happen to a model that recovers after the first synthetic answer (recording b2)."""


def _find(state: TurnState, verdict: Verdict) -> Hit | None:
    replays = [call for call in state.calls if call.call_class == "replay"]
    counts = Counter((call.of_batch.provider_id, call.of_batch.fingerprint) for call in replays)
    fired = state.in_force_trip_call
    tripped = fired is not None and fired.call_class == "replay"
    if not counts or (max(counts.values()) < REPLAYS and not tripped):
        return None
    (provider_id, _), count = counts.most_common(1)[0]
    ran = sum(1 for call in replays if call.outcome in ("executed", "failed"))
    reason = f"one call replayed {count}x under id {provider_id}; {ran} of {len(replays)} replays ran"
    lines = [call.evidence for call in replays if call.of_batch.provider_id == provider_id]
    return Hit(reason, "certain", (lines[0], lines[-1]) if len(lines) > 1 else (lines[0],))


DETECTOR = Detector(
    id="replay-loop",
    severity=2,
    fires_when=f"one call (id, tool, arguments) is replayed {REPLAYS} times in a turn, or a replay trips the guard in force",
    why="Each replay costs a request, and without a guard runs the command again.",
    what_to_try="check whether the provider streams old calls again; give the model the result in a new prompt",
    find=_find,
    is_loop=True,
)
