"""What a person must know beside a call's class: why it may mislead. Never changes a class or a decision.

- a replay is one by definition, but may be a legitimate re-run: something that changes state ran in between, or the result
  differs from the first one's (the residual risk named in PR #9436);
- a duplicate within one response is lost to the client: with other arguments, a distinct call is lost;
- a collision can be made by a clamp: ids cut at 64 or 40 characters coincide (pi-cursor-sdk#237, 9router#396);
- two equal calls under two ids in one response are two calls; some clients run one (hermes-agent#108584);
- one call again and again while its answer changes is polling, and no loop.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence

from analysis.call_keys import answer_key
from analysis.fingerprint import canonical_name
from analysis.history import BatchCall
from analysis.polling import note_polling
from analysis.provider_ids import call_half
from analysis.turn_state import JudgedCall, TurnState

_CHANGES_STATE = frozenset(("edit", "write_file", "run_shell_command", "agent", "notebook_edit", "todo_write", "save_memory"))
_CLAMPS = (40, 64)
_RAN = frozenset(("executed", "failed", "cancelled"))


def annotate(states: Sequence[TurnState]) -> None:
    calls = [call for state in states for call in state.calls]
    clamp = _clamped_length(calls)
    shared = _shared_with_another(calls)
    first_of: dict[tuple[str | None, bytes | None], int] = {}
    for index, call in enumerate(calls):
        key = (call.of_batch.provider_id, call.of_batch.fingerprint)
        call.class_reason = _note(calls, call, index, first_of.get(key), clamp, shared) or call.class_reason
        first_of.setdefault(key, index)
    _class_by_call_half(calls)
    note_polling(states)


def _note(
    calls: Sequence[JudgedCall],
    call: JudgedCall,
    index: int,
    first: int | None,
    clamp: int | None,
    shared: Container[int],
) -> str | None:
    timeline_call = call.of_batch.call
    if timeline_call.corrupt_result_id:
        return "corrupt id: its result carries it several times over"
    if timeline_call.paired_by_order:
        return "no id: paired with its result by order"
    if index in shared:
        return "the client's own id is collision-prone: it stood for another provider id before"
    match call.call_class:
        case "replay" if first is not None:
            return _re_run(calls[first], calls[first + 1 : index], call)
        case "same-response":
            return _lost_duplicate(call)
        case "collision" if clamp is not None:
            return f"length clamp: every id is exactly {clamp} characters long, or shorter"
        case "first-use" if siblings := _equal_siblings(call):
            return _identical(call, siblings)
        case "unknown":
            return _distrusted_first(calls[:index], call)
    return None


def _re_run(first: JudgedCall, between: Sequence[JudgedCall], call: JudgedCall) -> str | None:
    changed = next((other for other in between if _changes_state(other, call)), None)
    if changed is not None:
        return f"possible legitimate re-run: {changed.of_batch.call.call.tool} ran in between"
    before, after = answer_key(first), answer_key(call)
    if call.outcome in _RAN and before is not None and after is not None and before != after:
        return "possible legitimate re-run: the result differs from the first one's"
    return None


def _changes_state(other: JudgedCall, call: JudgedCall) -> bool:
    is_other = other.of_batch.fingerprint != call.of_batch.fingerprint
    return is_other and other.outcome in _RAN and canonical_name(other.of_batch.call.call.tool) in _CHANGES_STATE


def _lost_duplicate(call: JudgedCall) -> str:
    same_id = [other for other in call.batch.calls if other.provider_id == call.of_batch.provider_id]
    fingerprint = call.of_batch.fingerprint
    if fingerprint is None:
        return "cannot tell whether the payload differs: arguments not whole"
    if any(other.fingerprint == fingerprint for other in same_id if other is not call.of_batch):
        return "identical to the call before it: nothing was lost"
    return "payload differs: a distinct call was lost"


def _equal_siblings(call: JudgedCall) -> list[BatchCall]:
    fingerprint = call.of_batch.fingerprint
    if fingerprint is None:
        return []
    siblings = (other for other in call.batch.calls if other is not call.of_batch and not other.same_response)
    return [other for other in siblings if other.fingerprint == fingerprint]


def _identical(call: JudgedCall, siblings: Sequence[BatchCall]) -> str:
    note = "identical in one response: the same call under another id"
    unanswered = call.of_batch.call.result is None and any(other.call.result is not None for other in siblings)
    return f"{note}; it has no result, the client seems to have de-duplicated it" if unanswered else note


def _distrusted_first(before: Sequence[JudgedCall], call: JudgedCall) -> str | None:
    """Which fault of the first call's arguments leaves this one undecided; None where the fault is its own."""
    if call.of_batch.fingerprint is None:
        return None
    same_id = (other for other in before if other.of_batch.provider_id == call.of_batch.provider_id)
    first = next(same_id, None)
    return f"arguments of the first call under this id {first.of_batch.call.args_state}" if first is not None else None


def _shared_with_another(calls: Sequence[JudgedCall]) -> set[int]:
    """Positions of the calls whose recorded id stood for another provider id before, where the log holds the two apart."""
    provider_of: dict[str | None, str] = {}
    shared = set()
    for index, judged in enumerate(calls):
        call = judged.of_batch.call.call
        if call.provider_id is not None and provider_of.setdefault(call.recorded_id, call.provider_id) != call.provider_id:
            shared.add(index)
    return shared


def _clamped_length(calls: Sequence[JudgedCall]) -> int | None:
    """The clamp that the session's longest ids all show."""
    lengths = [len(provider) for call in calls if (provider := call.of_batch.provider_id) is not None]
    longest = max(lengths, default=0)
    return longest if longest in _CLAMPS and lengths.count(longest) > 2 else None


def _class_by_call_half(calls: Sequence[JudgedCall]) -> None:
    """A composite id `CALL|ITEM` keyed on its call half alone: what a client that drops the other half would see."""
    first: dict[str, bytes | None] = {}
    for call, half in _composite(calls):
        fingerprint = call.of_batch.fingerprint
        if half not in first:
            call.class_by_call_half = "first-use"
        elif fingerprint is None or first[half] is None:
            call.class_by_call_half = "unknown"
        else:
            call.class_by_call_half = "replay" if first[half] == fingerprint else "collision"
        first.setdefault(half, fingerprint)


def _composite(calls: Sequence[JudgedCall]) -> Iterator[tuple[JudgedCall, str]]:
    for call in calls:
        if call.of_batch.provider_id is not None and (half := call_half(call.of_batch.provider_id)) is not None:
            yield call, half
