"""The guard in force did not run calls that were no replays."""

from __future__ import annotations

from analysis.counting import counted
from analysis.detectors.base import Detector, Hit, TurnView
from analysis.thresholds import Thresholds

_FRESH = frozenset(("first-use", "collision", "no-id"))
_LOST = frozenset(("suppressed", "dropped", "skipped"))


_WITH_A_REPLAY = "a replay in the same batch took them along: find out why the model replays, then ask for these calls again"


def _find(view: TurnView, thresholds: Thresholds) -> Hit | None:
    tripped = view.state.in_force_trip_call is not None
    lost = _LOST if tripped else frozenset(("suppressed",))
    blocked = [call for call in view.state.calls if call.call_class in _FRESH and call.outcome in lost]
    if not blocked:
        return None
    collisions = sum(1 for call in blocked if call.call_class == "collision")
    ended = " and ended the turn" if tripped else ""
    among = f" ({counted(collisions, 'id collision')})" if collisions else ""
    reason = f"guard {view.state.guard_in_force} blocked {counted(len(blocked), 'fresh call')}{among}{ended}"
    lines = tuple(dict.fromkeys(call.evidence for call in blocked))
    by_id_alone = view.state.guard_in_force != "fingerprint"
    return Hit(
        reason,
        "certain",
        lines[:4],
        severity=None if tripped else 4,
        what_to_try=None if by_id_alone else _WITH_A_REPLAY,
    )


DETECTOR = Detector(
    id="fresh-calls-blocked",
    severity=3,
    fires_when="the guard in force suppressed or dropped calls whose arguments differ from those handled under their id",
    why="The model numbers its calls anew, and the guard took fresh calls for replays: work was lost for nothing.",
    what_to_try="upgrade the client to 0.23 or later, or ask the gateway for ids that are unique in the session",
    signs=_LOST,
    find=_find,
)
