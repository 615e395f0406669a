"""How a turn ended, how sure we are, and the lines that prove it.

First match wins, as DESIGN.md orders them: what somebody wrote of the end (explicit_ends), a trip of the replayed guard in
force, waiting for a person, a cancel, a final answer, a stall that later records prove, and then only what is missing.
`running` is not here: it depends on the clock, so the store's view decides it.

A trip is a silent hang where nothing on that path tells the user: the daemon of 0.21, which ends the turn as if all were well
(PR #9435). A dangling call that the guard in force does not explain is a cut log, never a hang: a kill leaves the same bytes.
"""

from __future__ import annotations

from collections.abc import Callable

from analysis import explicit_ends, stalls
from analysis.client_facts import turn_version
from analysis.counting import counted
from analysis.explicit_ends import told_user
from analysis.liveness import DEFAULT_LIVENESS, Liveness
from analysis.timeline import TimelineResponse, last_model
from analysis.turn_state import TurnState, Verdict, evidence_of

__all__ = ["Verdict", "verdict_of"]


def verdict_of(state: TurnState, liveness: Liveness = DEFAULT_LIVENESS) -> Verdict:
    for rule in _WRITTEN_ENDS if state.events else _ENDS_IN_THE_LOG:
        verdict = rule(state)
        if verdict is not None:
            return verdict
    return (
        _by_trip(state)
        or stalls.waiting_for_human(state)
        or stalls.called_off(state, liveness)
        or _by_final_answer(state)
        or _by_command(state)
        or stalls.stalled(state, liveness)
        or _cut_off(state)
    )


def _by_trip(state: TurnState) -> Verdict | None:
    fired = state.in_force_trip_call
    if fired is None:
        return None
    told = told_user(state)
    fresh = "a fresh call" if fired.call_class == "collision" else "a replay"
    name = fired.of_batch.provider_id
    suppressed = (call for call in reversed(state.calls) if call.outcome == "suppressed" and call.of_batch.provider_id == name)
    answered = next(suppressed, None)
    evidence = ((answered.evidence,) if answered else ()) + (fired.evidence,)
    reason = (
        f"guard {state.guard_in_force} tripped on {fresh} of id {name} and dropped {counted(len(fired.batch.calls), 'call')}"
    )
    if told is False:
        daemon = f"the daemon of {turn_version(state.turn) or 'this version'} ends such a turn without a word"
        return Verdict("silent-hang", f"{reason}; {daemon}", "certain", evidence)
    if state.entry_point == "unknown" and state.guard_in_force == "id-breaker":
        return Verdict("unknown", f"{reason}; entry point unknown: its daemon says nothing, the others do", "unknown", evidence)
    ending = {"headless": "stderr and exit 1", "tui": "a dialog", "sub-agent": "its parent was told"}
    how = ending.get(state.entry_point, "the turn ended gracefully" if told is None else "the user was told")
    return Verdict("stopped-visibly", f"{reason}; {how}", "certain", evidence)


_ASKS_FOR_A_TOOL = frozenset(("tool_use", "tool_calls"))


def _by_final_answer(state: TurnState) -> Verdict | None:
    last = state.last_item
    if not isinstance(last, TimelineResponse) or last.calls:
        return None
    evidence = (evidence_of(last.records[-1]),)
    if any(record.stop_reason in _ASKS_FOR_A_TOOL for record in last.records):
        return Verdict("silent-hang", "the model stopped to use a tool and named none", "probable", evidence)
    if last.has_text:
        return Verdict("completed", "ends with a final answer", "certain", evidence)
    if state.entry_point == "sub-agent":
        return None
    return Verdict(
        "silent-hang", f"the model's last response was empty: no text and no call{_switch(state)}", "probable", evidence
    )


def _switch(state: TurnState) -> str:
    """Empty answers after a change of model go with ids of the other model's shape in the history (kimi-code#3429)."""
    is_known = last_model(state.turn) is not None and state.other_model is not None
    return f"; the history holds calls of {state.other_model}, another model" if is_known else ""


def _by_command(state: TurnState) -> Verdict | None:
    """A command to the daemon, such as /compress, stands in its log as a prompt, and no model is asked (runs of 0.15 to 0.24).

    Elsewhere a command is no prompt: its record follows a turn that it says nothing of.
    """
    if state.last_item is not None or state.entry_point not in ("acp", "serve", "unknown"):
        return None
    if "slash_command" not in state.turn.event_names:
        return None
    done = next((event for event in state.log_events if event.name == "slash_command" and event.status == "result"), None)
    if done is None:
        return None
    return Verdict("completed", "a command that the client carried out itself", "certain", (evidence_of(done),))


def _cut_off(state: TurnState) -> Verdict:
    last = state.last_item
    if state.turn.prompt is None and last is None:
        return Verdict("unknown", "no prompt and no response in the log", "unknown")
    is_open = bool(state.open_calls)
    if is_open:
        what = "a tool call was left open"
    elif last is None:
        what = "no response was recorded"
    else:
        what = "the last result was not answered"
    reason = f"{what} and {'the log ends in mid-turn' if state.is_last else 'the next prompt follows'}"
    confidence = "probable"
    if is_open and state.guard_in_force == "unknown":
        reason += "; the guard in force is unknown, so a silent trip cannot be excluded"
        confidence = "unknown"
    if _process_began_later(state):
        return Verdict("truncated", f"{reason}; another process has the session since", confidence, tuple(state.last_evidence))
    return Verdict("truncated", reason, confidence, tuple(state.last_evidence), open_ended=state.is_last)


def _process_began_later(state: TurnState) -> bool:
    """The file that the client keeps beside the log of a session in use names a process that began after the last progress:
    whatever had this turn is gone, so it does not run, however fresh it is."""
    if not state.events:
        return False
    moved = state.last_progress
    began = (event.ts for event in state.events if event.name == "runtime")
    return moved is not None and any(ts is not None and ts > moved for ts in began)


_WRITTEN_ENDS: tuple[Callable[[TurnState], Verdict | None], ...] = (
    explicit_ends.by_daemon_record,
    explicit_ends.by_wire,
    explicit_ends.by_skip_text,
    explicit_ends.by_loop_event,
    explicit_ends.by_agent_meta,
    explicit_ends.by_exit_code,
    explicit_ends.by_provider_error,
)
_ENDS_IN_THE_LOG = (explicit_ends.by_daemon_record, explicit_ends.by_skip_text, explicit_ends.by_provider_error)
"""Those of them that may say something of a turn of which the log alone tells."""
