"""The second call of an id repeated for ever: the shipped guard compares with the first call alone and lets it through.

Seen with the real client (recordings a4 and a5, 0.24.4): the daemon ran nine and fourteen of them to the end without an event.
"""

from __future__ import annotations

from analysis.detectors.base import Detector, Hit, TurnView, lines, tools
from analysis.detectors.repeats import Repeats
from analysis.thresholds import Thresholds
from analysis.turn_state import JudgedCall


def _find(view: TurnView, thresholds: Thresholds) -> Hit | None:
    ran = [call for call in view.state.calls if call.call_class == "collision" and call.outcome in ("executed", "failed")]
    if len(ran) <= thresholds.collision_repeats:
        return None
    calls = max(Repeats(_key).walk(ran).by_key.values(), key=len, default=[])
    if len(calls) <= thresholds.collision_repeats:
        return None
    repeats = calls[1:]
    reason = (
        f"{tools(calls)} ran {len(calls)}x with the same arguments under id {calls[0].of_batch.provider_id}, "
        "which an earlier, different call had first"
    )
    return Hit(reason, "certain", lines(calls), wasted=tuple(repeats))


def _key(call: JudgedCall) -> tuple[str | None, bytes] | None:
    fingerprint = call.of_batch.fingerprint
    return (call.of_batch.provider_id, fingerprint) if fingerprint is not None else None


DETECTOR = Detector(
    id="collision-loop",
    severity=2,
    fires_when=(
        "a call under an id that an earlier, different call had first is run and then repeated {collision_repeats} times in a "
        "turn, with no new edit in between and no answer that differs"
    ),
    why="The guard compares a call with the first one of its id alone, so this loop is open to it for ever.",
    what_to_try="interrupt; `guard diff` with the guard any-fingerprint shows where comparing with all calls stops it",
    signs=frozenset(("collision",)),
    find=_find,
    is_loop=True,
)
