"""Ends of a turn that somebody wrote down: the daemon, the wire, the skip text, a loop event, a side file, the last error.

They come before anything inferred. Each rule answers with a verdict or with None, and none of them looks at the clock.
"""

from __future__ import annotations

from itertools import takewhile

from analysis.counting import counted
from analysis.history import DAEMONS
from analysis.turn_state import TurnState, Verdict, evidence_of
from ingest.records import Event, Response


def told_user(state: TurnState) -> bool | None:
    """Whether the user learns of a trip on this path; None where a background turn ends gracefully."""
    if state.turn.prompt is not None and state.turn.prompt.origin in ("cron", "notification") and state.entry_point in DAEMONS:
        return None
    if state.entry_point in DAEMONS:
        return state.guard_in_force == "fingerprint"
    return None if state.entry_point == "unknown" else True


_RESULT = frozenset(("turn_result",))
_ERRORS = frozenset(("api_error", "chat.content_retry_failure"))


def by_daemon_record(state: TurnState) -> Verdict | None:
    """The daemon's own record of the turn's end: in the log (0.24.4 `qwen serve`), else in the ledger beside it."""
    ended = state.turn.last_event(_RESULT)
    ended = ended or next((event for event in reversed(state.events) if event.name == "ledger" and _is_over(event)), None)
    if ended is None:
        return None
    evidence = (evidence_of(ended),)
    if ended.status == "completed":
        return Verdict("completed", "the daemon recorded the turn as completed", "certain", evidence)
    if ended.status == "cancelled":
        return Verdict("cancelled", "the daemon recorded the turn as cancelled", "certain", evidence)
    if _is_loop_protection(ended.message) or "skipped" in state.outcomes:
        return Verdict("stopped-visibly", "the daemon ended the turn with a loop-protection error", "certain", evidence)
    return Verdict("provider-error", f"the daemon ended the turn with error {ended.error_class or '?'}", "certain", evidence)


def _is_over(event: Event) -> bool:
    return event.status not in (None, "in_flight")


def by_wire(state: TurnState) -> Verdict | None:
    """What the daemon answered to the prompt on the wire. A plain end of turn tells nothing: 0.21 says it after a trip too."""
    answer = next(
        (event for event in reversed(state.events) if event.channel == "wire" and event.name == "prompt_response"), None
    )
    if answer is None:
        return None
    evidence = (evidence_of(answer), *state.last_evidence)
    if answer.error_class is not None:
        if answer.loop_type is not None or answer.attributes.get("loopType") or _is_loop_protection(answer.message):
            return Verdict("stopped-visibly", "the daemon answered with a loop-protection error", "certain", evidence)
        return Verdict("provider-error", f"the daemon answered with error {answer.error_class}", "certain", evidence)
    if answer.status == "cancelled":
        return Verdict("cancelled", "the daemon answered that the turn was cancelled", "certain", evidence)
    if answer.status in ("max_tokens", "max_turn_requests", "refusal"):
        return Verdict("stopped-visibly", f"the daemon answered with the limit {answer.status}", "certain", evidence)
    return None


_LIMIT_EXITS = {"53": "turn limit", "55": "budget"}


def by_exit_code(state: TurnState) -> Verdict | None:
    """The exit code that a wrapper noted: the stream ends without a result, but a limit or a person ended it."""
    ended = next((event for event in reversed(state.events) if event.name == "exit" and event.status), None)
    if ended is None or not state.is_last:
        return None
    if ended.status in _LIMIT_EXITS:
        reason = f"the client exited with {ended.status} ({_LIMIT_EXITS[ended.status]})"
        return Verdict("stopped-visibly", reason, "certain", (evidence_of(ended),))
    if ended.status == "130":
        return Verdict("cancelled", "the client exited with 130 (interrupted)", "certain", (evidence_of(ended),))
    return None


def _is_loop_protection(message: str | None) -> bool:
    return message is not None and "loop protection" in message.lower()


def by_skip_text(state: TurnState) -> Verdict | None:
    if "skipped" not in state.outcomes:
        return None
    answers = [result for call in state.calls if (result := call.of_batch.call.result) and result.answer == "loop-skip"]
    if not answers:
        return None
    told = "" if told_user(state) is None else " and said so"
    reason = f"the daemon stopped the turn as a loop{told}; it skipped {counted(len(answers), 'call')}"
    return Verdict("stopped-visibly", reason, "certain", tuple(map(evidence_of, answers)))


def by_loop_event(state: TurnState) -> Verdict | None:
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


def by_agent_meta(state: TurnState) -> Verdict | None:
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


def by_provider_error(state: TurnState) -> Verdict | None:
    in_log = state.turn.last_event(_ERRORS)
    error = in_log or next((event for event in reversed(state.events) if event.name in _ERRORS), None)
    if error is None or _answered_after(state, error, is_in_log=in_log is not None):
        return None
    what = error.message or error.error_class or error.name
    return Verdict(
        "provider-error", f"the last request failed and no answer followed: {what}", "certain", (evidence_of(error),)
    )


def _answered_after(state: TurnState, error: Event, *, is_in_log: bool) -> bool:
    if is_in_log:
        after = takewhile(lambda record: record is not error, reversed(state.turn.records))
        return any(isinstance(record, Response) for record in after)
    last = state.turn.responses[-1].records[-1].ts if state.turn.responses else None
    return last is not None and (error.ts is None or last > error.ts)
