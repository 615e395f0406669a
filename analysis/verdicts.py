"""How a turn ended, how sure we are, and the lines that prove it.

First match wins, as DESIGN.md orders them: what the client itself wrote of the end (turn_result, skip text, a loop stop, the
last api_error), a trip of the replayed guard in force, a final answer, and then only what is missing. `running` is not here:
it depends on the clock, so the store's view decides it from `open_ended`.

A trip is a silent hang where nothing on that path tells the user: the daemon of 0.21, which ends the turn as if all were well
(PR #9435). A dangling call that the guard in force does not explain is a cut log, never a hang: a kill leaves the same bytes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from analysis.history import DAEMONS
from analysis.timeline import TimelineResponse
from analysis.turn_state import TurnState, evidence_of
from ingest.records import Event, Response, Result


@dataclass(frozen=True, slots=True)
class Verdict:
    verdict: str
    reason: str
    confidence: str
    evidence: tuple[str, ...] = ()
    open_ended: bool = False


def verdict_of(state: TurnState) -> Verdict:
    for rule in _RULES:
        verdict = rule(state)
        if verdict is not None:
            return verdict
    return _cut_off(state)


def told_user(state: TurnState) -> bool | None:
    """Whether the user learns of a trip on this path; None where a background turn ends gracefully."""
    if state.turn.prompt is not None and state.turn.prompt.origin in ("cron", "notification") and state.entry_point in DAEMONS:
        return None
    if state.entry_point in DAEMONS:
        return state.guard_in_force == "fingerprint"
    return None if state.entry_point == "unknown" else True


def _by_turn_result(state: TurnState) -> Verdict | None:
    event = next((event for event in reversed(state.log_events) if event.name == "turn_result"), None)
    if event is None:
        return None
    evidence = (evidence_of(event),)
    if event.status == "completed":
        return Verdict("completed", "the daemon recorded the turn as completed", "certain", evidence)
    if event.status == "cancelled":
        return Verdict("cancelled", "the daemon recorded the turn as cancelled", "certain", evidence)
    if _is_loop_protection(event.message):
        return Verdict("stopped-visibly", "the daemon ended the turn with a loop-protection error", "certain", evidence)
    return Verdict("provider-error", f"the daemon ended the turn with error {event.error_class or '?'}", "certain", evidence)


def _is_loop_protection(message: str | None) -> bool:
    return message is not None and "loop protection" in message.lower()


def _by_skip_text(state: TurnState) -> Verdict | None:
    answers = [result for call in state.calls if (result := call.of_batch.call.result) and result.answer == "loop-skip"]
    if not answers:
        return None
    count = f"{len(answers)} call{'s' if len(answers) > 1 else ''}"
    told = "" if told_user(state) is None else " and said so"
    reason = f"the daemon stopped the turn as a loop{told}; it skipped {count}"
    return Verdict("stopped-visibly", reason, "certain", tuple(map(evidence_of, answers)))


def _by_loop_event(state: TurnState) -> Verdict | None:
    """The client's own loop detector ended the turn: the response it stopped on is in no log (recordings i, i2, i3)."""
    for event in state.events:
        if event.name == "loop_detected" and not _goes_on_after(state, event):
            told = "and said so" if state.entry_point != "unknown" else "by telemetry"
            kind = event.loop_type or "unknown type"
            return Verdict(
                "stopped-visibly",
                f"the client's loop detector ({kind}) ended the turn {told}",
                "certain",
                (evidence_of(event), *state.last_evidence),
            )
    return None


def _goes_on_after(state: TurnState, event: Event) -> bool:
    last = state.turn.responses[-1].records[-1] if state.turn.responses else None
    return last is not None and last.ts is not None and event.ts is not None and last.ts > event.ts


def _by_agent_meta(state: TurnState) -> Verdict | None:
    """A sub-agent's end stands in the file beside its log; the call that tripped its breaker stands nowhere."""
    meta = next((event for event in state.events if event.name == "agent-meta"), None)
    if meta is None or not state.is_last:
        return None
    evidence = (evidence_of(meta), *state.last_evidence)
    if is_agent_trip(meta):
        return Verdict("stopped-visibly", "the breaker ended the sub-agent; its parent was told", "certain", evidence)
    if meta.status == "completed":
        return Verdict("completed", "the client recorded the sub-agent as completed", "certain", evidence)
    if meta.status in ("cancelled", "stopped"):
        return Verdict("cancelled", f"the client recorded the sub-agent as {meta.status}", "certain", evidence)
    if meta.status == "failed":
        return Verdict("provider-error", "the client recorded the sub-agent as failed", "probable", evidence)
    return None


def is_agent_trip(event: Event) -> bool:
    return "LOOP_DETECTED" in (event.message or "") or event.attributes.get("terminate_reason") == "LOOP_DETECTED"


def _by_provider_error(state: TurnState) -> Verdict | None:
    error = _last_error(state.log_events) or _last_error(state.events)
    if error is None or _answered_after(state, error):
        return None
    what = error.message or error.error_class or error.name
    return Verdict(
        "provider-error", f"the last request failed and no answer followed: {what}", "certain", (evidence_of(error),)
    )


def _last_error(events: list[Event]) -> Event | None:
    names = ("api_error", "chat.content_retry_failure")
    return next((event for event in reversed(events) if event.name in names), None)


def _answered_after(state: TurnState, error: Event) -> bool:
    records = list(state.turn.records)
    if error in state.log_events:
        index = next(index for index, record in enumerate(records) if record is error)
        return any(isinstance(record, Response) for record in records[index:])
    last = state.turn.responses[-1].records[-1].ts if state.turn.responses else None
    return last is not None and (error.ts is None or last > error.ts)


def _by_trip(state: TurnState) -> Verdict | None:
    fired = state.in_force_trip_call
    if fired is None:
        return None
    told = told_user(state)
    fresh = "a fresh call" if fired.call_class == "collision" else "a replay"
    name = fired.of_batch.provider_id
    answered = next(
        (call for call in reversed(state.calls) if call.outcome == "suppressed" and call.of_batch.provider_id == name),
        None,
    )
    evidence = ((answered.evidence,) if answered else ()) + (fired.evidence,)
    reason = f"guard {state.guard_in_force} tripped on {fresh} of id {name} and dropped {len(fired.batch.calls)} call(s)"
    if told is False:
        return Verdict("silent-hang", f"{reason}; this daemon ends the turn without a word", "certain", evidence)
    if told is None and state.entry_point == "unknown":
        return Verdict(
            "stopped-visibly",
            f"{reason}; entry point unknown, so whether the user was told is too",
            "probable",
            evidence,
        )
    ending = {"headless": "stderr and exit 1", "tui": "a dialog", "sub-agent": "its parent was told"}
    return Verdict(
        "stopped-visibly",
        f"{reason}; {ending.get(state.entry_point, 'the turn ended gracefully')}",
        "certain",
        evidence,
    )


def _by_final_answer(state: TurnState) -> Verdict | None:
    last = _last_conversation_item(state)
    if not isinstance(last, TimelineResponse) or last.calls:
        return None
    evidence = (evidence_of(last.records[-1]),)
    if last.has_text:
        return Verdict("completed", "ends with a final answer", "certain", evidence)
    if state.entry_point == "sub-agent":
        return None
    return Verdict("silent-hang", "the model's last response was empty: no text and no call", "probable", evidence)


def _last_conversation_item(state: TurnState) -> object:
    return next((item for item in reversed(state.turn.items) if isinstance(item, TimelineResponse | Result)), None)


def _cut_off(state: TurnState) -> Verdict:
    last = _last_conversation_item(state)
    if state.turn.prompt is None and last is None:
        return Verdict("unknown", "no prompt and no response in the log", "unknown")
    is_open = isinstance(last, TimelineResponse) and bool(last.calls)
    if is_open:
        what = "a tool call was left open"
    elif last is None:
        what = "no response was recorded"
    else:
        what = "nothing after the last record"
    reason = f"{what} and {'the log ends in mid-turn' if state.is_last else 'the next prompt follows'}"
    confidence = "probable"
    if is_open and state.guard_in_force == "unknown":
        reason += "; the guard in force is unknown, so a silent trip cannot be excluded"
        confidence = "unknown"
    return Verdict("truncated", reason, confidence, tuple(state.last_evidence), open_ended=state.is_last)


_RULES: tuple[Callable[[TurnState], Verdict | None], ...] = (
    _by_turn_result,
    _by_skip_text,
    _by_loop_event,
    _by_agent_meta,
    _by_provider_error,
    _by_trip,
    _by_final_answer,
)
