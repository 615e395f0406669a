"""The model sends one call again and again under one id."""

from __future__ import annotations

from analysis.detectors.base import Detector, Hit, TurnView, lines
from analysis.detectors.repeats import Repeats
from analysis.thresholds import Thresholds
from analysis.turn_state import JudgedCall


def _find(view: TurnView, thresholds: Thresholds) -> Hit | None:
    replays = max(Repeats(_key).walk(view.state.calls).by_key.values(), key=_count, default=[])
    replays = [call for call in replays if call.call_class == "replay"]
    fired = view.state.in_force_trip_call
    if fired is not None and fired.call_class == "replay" and len(replays) < thresholds.replays:
        replays = [call for call in view.state.calls if call.call_class == "replay" and _key(call) == _key(fired)]
    elif len(replays) < thresholds.replays:
        return None
    ran = sum(1 for call in replays if call.outcome in ("executed", "failed"))
    name = replays[0].of_batch.provider_id
    reason = f"one call replayed {len(replays)}x under id {name}; {ran} of {len(replays)} replays ran"
    return Hit(reason, "certain", lines(replays), wasted=tuple(replays))


def _key(call: JudgedCall) -> tuple[str, bytes] | None:
    provider, fingerprint = call.of_batch.provider_id, call.of_batch.fingerprint
    return (provider, fingerprint) if provider is not None and fingerprint is not None else None


def _count(calls: list[JudgedCall]) -> int:
    return sum(1 for call in calls if call.call_class == "replay")


DETECTOR = Detector(
    id="replay-loop",
    severity=2,
    fires_when=(
        "one call (id, tool, arguments) is replayed {replays} times in a turn, with no new edit in between and no answer that "
        "differs; or a replay trips the guard in force"
    ),
    why="Each replay costs a request, and without a guard runs the command again.",
    what_to_try="check whether the provider streams old calls again; give the model the result in a new prompt",
    signs=frozenset(("replay",)),
    find=_find,
    is_loop=True,
)
