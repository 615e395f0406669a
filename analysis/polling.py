"""Honest polling, named as such: one call again and again while its answer changes is progress, and no loop.

A rule that looks at arguments alone would stop it (qwen-code#9450, #9492: a status asked for five times while peers worked), so
the call on which the client's own rule would fire carries a note.
"""

from __future__ import annotations

from collections.abc import Sequence

from analysis.call_keys import answer_key
from analysis.detectors.client_heuristics import CONSECUTIVE
from analysis.turn_state import JudgedCall, TurnState


def note_polling(states: Sequence[TurnState]) -> None:
    for state in states:
        if not state.turn.repeated or len(state.calls) < CONSECUTIVE:
            continue
        by_fingerprint: dict[bytes, list[JudgedCall]] = {}
        for call in state.calls:
            if call.of_batch.fingerprint is not None:
                by_fingerprint.setdefault(call.of_batch.fingerprint, []).append(call)
        for calls in by_fingerprint.values():
            if len(calls) >= CONSECUTIVE and calls[CONSECUTIVE - 1].class_reason is None and _sees_changes(calls):
                calls[CONSECUTIVE - 1].class_reason = (
                    f"progress: asked {len(calls)}x in this turn and answered differently; "
                    f"a guard by arguments alone would stop at {CONSECUTIVE}"
                )


def _sees_changes(calls: Sequence[JudgedCall]) -> bool:
    answers = {answer for call in calls if (answer := answer_key(call)) is not None}
    return len(answers) > 1
