"""The client's own loop heuristics, re-run on the recorded calls to explain its `loop_detected` events.

Only those that the recorded calls can show; texts and thoughts are not kept, so chanting and thought loops stay unmatched. The
response on which headless stops is not recorded (recordings i, i2), so one call fewer than the client's threshold is enough
where the log ends on a result.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from analysis.turn_state import TurnState

CONSECUTIVE = 5
SPREAD = 6


def explains(state: TurnState, loop_type: str) -> bool:
    rule = _RULES.get(loop_type)
    return rule is not None and rule([call.of_batch.fingerprint for call in state.calls], _lost(state))


def _lost(state: TurnState) -> int:
    """1 where the response that the client stopped on may be missing: every recorded call has its answer."""
    return 1 if state.calls and all(call.of_batch.call.result is not None for call in state.calls) else 0


def _consecutive(fingerprints: list[bytes | None], lost: int) -> bool:
    run = 0
    for index, fingerprint in enumerate(fingerprints):
        same = index > 0 and fingerprint is not None and fingerprint == fingerprints[index - 1]
        run = run + 1 if same else 1
    return bool(fingerprints) and run + lost >= CONSECUTIVE


def _spread(fingerprints: list[bytes | None], lost: int) -> bool:
    counts = Counter(fingerprint for fingerprint in fingerprints if fingerprint is not None)
    return bool(counts) and max(counts.values()) + lost >= SPREAD


_RULES: dict[str, Callable[[list[bytes | None], int], bool]] = {
    "consecutive_identical_tool_calls": _consecutive,
    "global_tool_call_duplicate": _spread,
}
