"""Turns that wait: for a person, or for something that never comes.

Silence alone proves nothing, a killed process is silent too. A stall needs a later witness that the process lived on: a person
who called the turn off or prompted again in the same process, or bookkeeping that kept arriving beside an open call.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from analysis.liveness import SHORTEST_STALL, Liveness
from analysis.timeline import TimelineResponse
from analysis.turn_state import TurnState, Verdict, evidence_of
from ingest.records import AnyRecord, Event, Result

_SECOND = 1_000_000
_ASKS_A_PERSON = frozenset(
    ("ask_user_question", "ask_user", "exit_plan_mode", "AskUserQuestion", "ExitPlanMode", "request_user_input")
)
_PROMPT_NUMBER = re.compile(r"#{8}(\d+)\Z")
_CALLED_OFF = frozenset(("interrupted", "turn_aborted", "abort", "api_cancel"))


def waiting_for_human(state: TurnState) -> Verdict | None:
    """An open call that only a person can answer: a question, or an approval that was asked for and not given."""
    if not state.is_last:
        return None
    asked = {event.call_id: event for event in reversed(state.events) if _asks_approval(event)}
    for call in state.open_calls:
        recorded = call.of_batch.call.call
        if recorded.tool in _ASKS_A_PERSON:
            return Verdict("waiting-for-human", f"{recorded.tool} waits for an answer", "certain", (call.evidence,))
        blocked = asked.get(recorded.recorded_id)
        if blocked is not None:
            reason = f"{recorded.tool} waits for approval"
            return Verdict("waiting-for-human", reason, "probable", (call.evidence, evidence_of(blocked)))
    return None


def _asks_approval(event: Event) -> bool:
    return event.name in ("tool.blocked_on_user", "permission_request")


def called_off(state: TurnState, liveness: Liveness) -> Verdict | None:
    """A person or the client called the turn off: a cancel, unless they had waited longer than anything takes."""
    last = state.last_item
    ended: AnyRecord | None = last if isinstance(last, Result) and last.answer == "cancelled" else None
    ended = ended or state.turn.last_event(_CALLED_OFF)
    if ended is None:
        return None
    waited = _seconds(_last_move_before(state, ended), ended.ts)
    what = _overdue(state, waited, liveness)
    if what is not None:
        evidence = (*state.last_evidence, evidence_of(ended))
        reason = f"{what}, then the turn was called off"
        return Verdict("silent-hang", reason, "probable", tuple(dict.fromkeys(evidence)))
    return Verdict("cancelled", "the turn was called off", "certain", (evidence_of(ended),))


def stalled(state: TurnState, liveness: Liveness) -> Verdict | None:
    """No end, and the process lived on long after the last progress."""
    for witness, how in _witnesses(state):
        what = _overdue(state, _seconds(state.last_progress, witness.ts), liveness)
        if what is not None:
            evidence = (*state.last_evidence, evidence_of(witness))
            return Verdict("silent-hang", f"{what}; {how}", "probable", evidence, open_ended=state.is_last)
    return None


def _witnesses(state: TurnState) -> Iterator[tuple[AnyRecord, str]]:
    """Records that show the process alive after the last progress, the last of each kind."""
    if isinstance(state.last_item, TimelineResponse) and state.open_calls and state.log_events:
        yield state.log_events[-1], "only bookkeeping followed"
    following = state.following
    if following is not None and following.turn.prompt is not None and _same_process(state, following):
        yield following.turn.prompt, "then came the next prompt"


def _same_process(state: TurnState, following: TurnState) -> bool:
    """Whether the next prompt came to the process that had this turn: its prompt numbers go on (QWEN_CODE.md 6).

    Headless counts on over processes, and a client that does not number its prompts cannot tell: then it may be a resume
    after a kill.
    """
    if state.entry_point not in ("tui", "acp", "serve"):
        return False
    here = _PROMPT_NUMBER.search(state.prompt_id or "")
    there = _PROMPT_NUMBER.search(following.prompt_id or "")
    return here is not None and there is not None and int(there[1]) == int(here[1]) + 1


def _overdue(state: TurnState, waited: float | None, liveness: Liveness) -> str | None:
    """What did not come and how long it was waited for; None while that is no longer than it may take."""
    if waited is None or waited < SHORTEST_STALL:
        return None
    what, limit = _awaited(state, liveness)
    return f"{what} for {_minutes(waited)}" if waited >= limit else None


def _awaited(state: TurnState, liveness: Liveness) -> tuple[str, float]:
    """What the turn waits for, and how long that may take in seconds."""
    calls = state.open_calls or [call for call in state.calls if call.outcome == "cancelled"][-1:]
    if calls:
        tools = [call.of_batch.call.call.tool for call in calls]
        slowest = max(tools, key=liveness.of_tool)
        return f"{slowest} did not return", liveness.of_tool(slowest)
    return "the model did not answer", liveness.model


def _last_move_before(state: TurnState, ended: AnyRecord) -> int | None:
    times = (record.ts for record in state.turn.conversation if record is not ended)
    return max((ts for ts in times if ts is not None), default=None)


def _seconds(start: int | None, end: int | None) -> float | None:
    return None if start is None or end is None else (end - start) / _SECOND


def _minutes(seconds: float) -> str:
    return f"{seconds / 60:.0f} min" if seconds >= 120 else f"{seconds:.0f} s"


def stale_at(state: TurnState, liveness: Liveness) -> int | None:
    """From when on silence is a reason to doubt that the turn runs, in microseconds since the epoch."""
    moved = state.last_progress
    return None if moved is None else moved + int(_awaited(state, liveness)[1] * _SECOND)
