"""What a person must know beside a call's class: why it may mislead. Never changes a class or a decision.

- a replay is one by definition, but may be a legitimate re-run (re_runs);
- a duplicate within one response is lost to the client: with other arguments, a distinct call is lost;
- a collision can be made by a clamp: ids cut at 64 or 40 characters coincide (pi-cursor-sdk#237, 9router#396);
- two equal calls under two ids in one response are two calls; some clients run one (hermes-agent#108584);
- one call again and again while its answer changes is polling, and no loop.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import TypeVar

from analysis.history import Batch, BatchCall
from analysis.polling import note_polling
from analysis.provider_ids import call_half
from analysis.re_runs import ReRuns
from analysis.turn_state import JudgedCall, TurnState
from ingest.records import Call

_Key = TypeVar("_Key", bound=Hashable)

_CLAMPS = (40, 64)
_NEW = frozenset(("first-use", "no-id"))


def annotate(states: Sequence[TurnState]) -> None:
    calls = [call for state in states for call in state.calls]
    notes = _Notes(calls)
    provider_of: dict[str | None, str | None] = {}
    index = -1
    for state in states:
        for call in state.calls:
            index += 1
            told = call.of_batch.call
            is_shared = told.call.provider_id is not None and _stood_for_another(told.call, provider_of)
            if told.corrupt_result_id:
                call.class_reason = "corrupt id: its result carries it several times over"
            elif told.paired_by_order:
                call.class_reason = "no id: paired with its result by order"
            elif is_shared:
                call.class_reason = "the client's own id is collision-prone: it stood for another provider id before"
            elif call.call_class not in _NEW:
                call.class_reason = notes.of_class(index, call) or call.class_reason
            elif call.call_class == "first-use" and call.of_batch.fingerprint in state.turn.repeated:
                call.class_reason = notes.of_sibling(call)
    _class_by_call_half(calls)
    note_polling(states)


def _stood_for_another(call: Call, provider_of: dict[str | None, str | None]) -> bool:
    """Its recorded id, for another provider id before it, where the log holds the two apart."""
    return provider_of.setdefault(call.recorded_id, call.provider_id) != call.provider_id


class _Notes:
    """calls: of the whole session, in order. What is known of them all is worked out once, and only if one asks."""

    def __init__(self, calls: Sequence[JudgedCall]) -> None:
        self._calls = calls
        self._beside: _Beside | None = None

    @cached_property
    def _clamp(self) -> int | None:
        return _clamped_length(self._calls)

    @cached_property
    def _re_runs(self) -> ReRuns:
        return ReRuns(self._calls)

    @cached_property
    def _first_equal(self) -> dict[tuple[str | None, bytes | None], int]:
        return _first_places((call.of_batch.provider_id, call.of_batch.fingerprint) for call in self._calls)

    @cached_property
    def _first_of_id(self) -> dict[str | None, int]:
        return _first_places(call.of_batch.provider_id for call in self._calls)

    def of_class(self, index: int, call: JudgedCall) -> str | None:
        provider, fingerprint = call.of_batch.provider_id, call.of_batch.fingerprint
        match call.call_class:
            case "replay" if (first := self._first_equal[provider, fingerprint]) < index:
                return self._re_runs.note(first, index)
            case "same-response":
                return self._in(call.batch).lost_duplicate(call)
            case "collision" if self._clamp is not None:
                return f"length clamp: every id is exactly {self._clamp} characters long, or shorter"
            case "unknown" if fingerprint is not None and (first := self._first_of_id[provider]) < index:
                return f"arguments of the first call under this id {self._calls[first].of_batch.call.args_state}"
        return None

    def of_sibling(self, call: JudgedCall) -> str | None:
        return self._in(call.batch).identical(call)

    def _in(self, batch: Batch) -> _Beside:
        if self._beside is None or self._beside.batch is not batch:
            self._beside = _Beside(batch)
        return self._beside


class _Beside:
    """The calls of one response by what they are."""

    def __init__(self, batch: Batch) -> None:
        self.batch = batch
        self._alike = Counter((call.provider_id, call.fingerprint) for call in batch.calls)
        self._seen_by_guard: dict[bytes | None, list[BatchCall]] = defaultdict(list)
        for call in batch.calls:
            if not call.same_response:
                self._seen_by_guard[call.fingerprint].append(call)
        self._answered = {
            fingerprint: sum(call.call.result is not None for call in calls)
            for fingerprint, calls in self._seen_by_guard.items()
        }

    def lost_duplicate(self, call: JudgedCall) -> str:
        fingerprint = call.of_batch.fingerprint
        if fingerprint is None:
            return "cannot tell whether the payload differs: arguments not whole"
        if self._alike[call.of_batch.provider_id, fingerprint] > 1:
            return "identical to the call before it: nothing was lost"
        return "payload differs: a distinct call was lost"

    def identical(self, call: JudgedCall) -> str | None:
        fingerprint = call.of_batch.fingerprint
        if fingerprint is None or len(self._seen_by_guard[fingerprint]) < 2:
            return None
        note = "identical in one response: the same call under another id"
        is_lost = call.of_batch.call.result is None and self._answered[fingerprint] > 0
        return f"{note}; it has no result, the client seems to have de-duplicated it" if is_lost else note


def _first_places(keys: Iterable[_Key]) -> dict[_Key, int]:
    first: dict[_Key, int] = {}
    for index, key in enumerate(keys):
        first.setdefault(key, index)
    return first


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
        provider = call.of_batch.provider_id
        if provider is not None and "|" in provider and (half := call_half(provider)) is not None:
            yield call, half
