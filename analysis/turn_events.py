"""Which turn an event outside the log belongs to.

By prompt id first; headless 0.21 gives every process the same one (`...########0`, QWEN_CODE.md 6), so where several turns
share an id, or none has it, the clock decides: the turn that had begun last. An event of a sub-agent stays with the sub-agent.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from analysis.turn_state import TurnState, is_of_sub_agent
from ingest.records import Event

_OF_A_TURN = frozenset(("telemetry", "span", "wire"))
_OF_THE_LAST = frozenset(("exit", "runtime"))


def assign_events(states: Sequence[TurnState], events: Sequence[Event], *, is_sub_agent: bool) -> None:
    """Fill `TurnState.events`. Events that concern no turn (a process's start, its usage record) are left out."""
    if not events or not states:
        return
    of_prompt: dict[str, list[TurnState]] = {}
    of_ledger: dict[str | None, TurnState] = {}
    for state in states:
        if state.prompt_id is not None:
            of_prompt.setdefault(state.prompt_id, []).append(state)
        if state.turn.prompt is not None:
            of_ledger.setdefault(state.turn.prompt.prompt_id, state)
    clocks = {prompt_id: _Clock(alike) for prompt_id, alike in of_prompt.items()}
    any_turn = _Clock(states)
    for event in events:
        found: TurnState | None = None
        if is_sub_agent or event.name in _OF_THE_LAST:
            found = states[-1]
        elif event.name == "ledger":
            found = of_ledger.get(event.prompt_id)
        elif event.channel in _OF_A_TURN and not is_of_sub_agent(event):
            found = clocks.get(event.prompt_id or "", any_turn).begun_last(event.ts)
        if found is not None:
            found.events.append(event)


class _Clock:
    """Of some turns, which one had begun last at a time."""

    def __init__(self, states: Sequence[TurnState]) -> None:
        self._states = states
        self._begun = [(start, state) for state in states if (start := _started_at(state)) is not None]
        self._earliest_from = [start for start, _ in self._begun]
        """Of each place the earliest start there or later: rising, though a clock may have been set back."""
        for at in range(len(self._begun) - 2, -1, -1):
            self._earliest_from[at] = min(self._earliest_from[at], self._earliest_from[at + 1])

    def begun_last(self, ts: int | None) -> TurnState | None:
        if len(self._states) == 1 or ts is None:
            return self._states[-1]
        begun = bisect_right(self._earliest_from, ts)
        return self._begun[begun - 1][1] if begun else None


def _started_at(state: TurnState) -> int | None:
    return next((record.ts for record in state.turn.records if record.ts is not None), None)
