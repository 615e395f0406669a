"""Which turn an event outside the log belongs to.

By prompt id first; headless 0.21 gives every process the same one (`...########0`, QWEN_CODE.md 6), so where several turns
share an id, or none has it, the clock decides: the turn that had begun last. An event of a sub-agent stays with the sub-agent.
"""

from __future__ import annotations

from collections.abc import Sequence

from analysis.turn_state import TurnState, is_of_sub_agent
from ingest.records import Event

_OF_A_TURN = frozenset(("telemetry", "span", "wire"))


def assign_events(states: Sequence[TurnState], events: Sequence[Event], *, is_sub_agent: bool) -> None:
    """Fill `TurnState.events`. Events that concern no turn (a process's start, its usage record) are left out."""
    by_prompt: dict[str, list[TurnState]] = {}
    for state in states:
        if state.prompt_id is not None:
            by_prompt.setdefault(state.prompt_id, []).append(state)
    for event in events:
        found = _state_of(states, by_prompt, event, is_sub_agent)
        if found is not None:
            found.events.append(event)


def _state_of(
    states: Sequence[TurnState], by_prompt: dict[str, list[TurnState]], event: Event, is_sub_agent: bool
) -> TurnState | None:
    if is_sub_agent or event.name in ("exit", "runtime"):
        return states[-1] if states else None
    if event.name == "ledger":
        return next((state for state in states if state.turn.prompt and state.turn.prompt.prompt_id == event.prompt_id), None)
    if event.channel not in _OF_A_TURN or is_of_sub_agent(event):
        return None
    return _begun_last(by_prompt.get(event.prompt_id or "", states), event.ts)


def _begun_last(states: Sequence[TurnState], ts: int | None) -> TurnState | None:
    if len(states) == 1 or ts is None:
        return states[-1] if states else None
    begun = [state for state in states if (start := started_at(state)) is not None and start <= ts]
    return begun[-1] if begun else None


def started_at(state: TurnState) -> int | None:
    return next((record.ts for record in state.turn.records if record.ts is not None), None)
