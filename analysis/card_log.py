"""What an interface was told of a session's calls: each announcement, why its id was announced before, and what was its own.

An announcement is one card of an interface that adds a card whenever a call starts. Four ways lead to two of one id:
- `missing-id`: the provider sent no id, and the client left it empty or put in a constant;
- `cross-round`: a later model response uses the id again;
- `same-response`: two calls of one response carry it (two indexes of the stream);
- `re-emitted`: the client told of one call twice.
The log of stream pieces tells the last two apart for certain. Without it, other arguments or a result for each of the two speak
for two calls, and that is said to be `probable`. Starts of one id whose arguments only grow are one call told while it is
streamed (lettabot#199: 189 of them), and one announcement.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from analysis.provider_ids import says_no_id
from ingest.records import CardEvent

Cause = Literal["same-response", "cross-round", "re-emitted", "missing-id"]
ENDED = frozenset(("completed", "failed"))


@dataclass(slots=True, eq=False)
class Announcement:
    first: CardEvent
    starts: int
    """Start events that told of it: 0 where the first that was told is an update."""
    latest: CardEvent
    """The start that tells most of the arguments."""
    round_no: int | None
    response: int = 0
    """Which of the responses that announced this id: told by the rounds, else worked out."""
    cause: Cause | None = None
    cause_is_certain: bool = False
    is_call: bool = True
    """A call of its own; else the same call told again, or a copy of it that was never run. What is told again after the first
    telling was taken back is the call."""
    own: list[CardEvent] = field(default_factory=list)
    """The updates that are about this call, whichever card they reach."""

    @property
    def card_id(self) -> str | None:
        return self.first.card_id

    @property
    def told(self) -> CardEvent:
        """What was last said of its state."""
        return next((event for event in reversed(self.own) if event.status is not None), self.first)

    @property
    def has_ended(self) -> bool:
        return self.told.status in ENDED

    @property
    def was_discarded(self) -> bool:
        return self.told.kind == "discard"


@dataclass(slots=True, eq=False)
class Update:
    event: CardEvent
    owner: Announcement


@dataclass(slots=True, eq=False)
class Interface:
    """One interface from its first card to its last event."""

    announcements: list[Announcement] = field(default_factory=list)
    steps: list[Announcement | Update] = field(default_factory=list)
    """In the order in which they were told."""
    last_round: int = 0

    def by_id(self) -> dict[str | None, list[Announcement]]:
        found: dict[str | None, list[Announcement]] = defaultdict(list)
        for one in self.announcements:
            found[one.card_id].append(one)
        return found


def interfaces(events: Sequence[CardEvent]) -> Iterator[Interface]:
    """One for each source, and a new one wherever a session is told again from its beginning.

    A daemon's stream is one however many files it was recorded in: its events have ids, so none is here twice.
    """
    slots = _Slots(event for event in events if event.kind == "delta")
    by_source: dict[str, list[CardEvent]] = defaultdict(list)
    for event in events:
        if event.kind != "delta":
            by_source[event.surface if event.surface == "sse" else event.place.source].append(event)
    for told in by_source.values():
        start = 0
        for index in range(len(told) + 1):
            if index == len(told) or told[index].kind == "reset":
                if any(one.kind in ("start", "update", "discard") for one in told[start:index]):
                    yield _interface(told[start:index], slots)
                start = index + 1


class _Slots:
    """The calls of each response as the provider streamed them: which of its indexes carry which id."""

    def __init__(self, deltas: Iterable[CardEvent]) -> None:
        self._streams: dict[int, dict[str, dict[int, str | None]]] = defaultdict(lambda: defaultdict(dict))
        for delta in deltas:
            if delta.round_no is not None and delta.stream_index is not None:
                stream = self._streams[delta.round_no][delta.stream or ""]
                told = None if says_no_id(delta.card_id) else delta.card_id
                stream[delta.stream_index] = stream.get(delta.stream_index) or told

    def are_known(self, round_no: int | None) -> bool:
        return round_no in self._streams

    def carrying(self, round_no: int | None, card_id: str | None) -> int:
        """A response may have been streamed twice, after an error: what counts is the fullest stream."""
        return max(
            (sum(one == card_id for one in stream.values()) for stream in self._streams.get(round_no or 0, {}).values()),
            default=0,
        )


def _interface(events: Sequence[CardEvent], slots: _Slots) -> Interface:
    found = Interface()
    by_id: dict[str | None, list[Announcement]] = defaultdict(list)
    updates: dict[str | None, list[Update]] = defaultdict(list)
    being_told: dict[str | None, Announcement] = {}
    """By id, the announcement that may still be told more of."""
    for event in events:
        found.last_round = max(found.last_round, event.round_no or 0)
        if event.kind not in ("start", "update", "discard"):
            continue
        known = by_id[event.card_id]
        if event.kind == "start":
            streamed = being_told.get(event.card_id)
            is_one_call = slots.carrying(event.round_no, event.card_id) < 2
            if streamed is not None and is_one_call and _goes_on(streamed, event):
                streamed.starts += 1
                streamed.latest = event
                continue
            known.append(Announcement(event, 1, event, event.round_no))
            being_told[event.card_id] = known[-1]
            found.steps.append(known[-1])
        else:
            if not known:
                known.append(Announcement(event, 0, event, event.round_no))
                found.steps.append(known[-1])
            being_told.pop(event.card_id, None)
            update = Update(event, known[-1])
            updates[event.card_id].append(update)
            found.steps.append(update)
    found.announcements = [step for step in found.steps if isinstance(step, Announcement)]
    position = {id(step): index for index, step in enumerate(found.steps)}
    for card_id, announced in by_id.items():
        _find_causes(announced, updates[card_id], position, slots)
        _find_owners(announced, updates[card_id], position)
    return found


def _goes_on(before: Announcement, start: CardEvent) -> bool:
    """Whether this start tells more of the call that the one before told of, in the same response."""
    if before.round_no != start.round_no:
        return False
    told, more = before.latest.args_json, start.args_json
    if told == more:
        return before.starts > 1 and before.latest.fingerprint == start.fingerprint
    return more is not None and _has_grown(told or "", more)


def _has_grown(told: str, more: str) -> bool:
    """`{` is how every object begins, so of an object nothing counts but members: what stood there still stands there."""
    begun = told.rstrip("}").rstrip('"')
    return len(more) > len(told) and more.startswith(begun)


def _find_causes(announced: Sequence[Announcement], updates: Sequence[Update], position: dict[int, int], slots: _Slots) -> None:
    results = [position[id(update)] for update in updates if update.event.kind == "update" and update.event.status in ENDED]
    discards = [position[id(update)] for update in updates if update.event.kind == "discard"]
    responses = list(_by_response(announced, results, position))
    before: Announcement | None = None
    for number, (response, following) in enumerate(zip(responses, [*responses[1:], None], strict=True)):
        since, until = position[id(response[0])], position[id(following[0])] if following else len(position)
        ended = bisect_left(results, until) - bisect_left(results, since)
        for nth, one in enumerate(response, 1):
            one.response = number
            if before is not None:
                is_equal = _args(before) == _args(one)
                one.cause, one.cause_is_certain = _cause(one, nth, is_equal, ended >= nth, slots)
                is_second_call = one.cause == "same-response" and (not is_equal or ended >= nth)
                is_retry = one.cause == "re-emitted" and _any_between(discards, position[id(before)], position[id(one)])
                one.is_call = one.cause in ("cross-round", "missing-id") or is_second_call or is_retry
            before = one


def _by_response(
    announced: Sequence[Announcement], results: Sequence[int], position: dict[int, int]
) -> Iterator[list[Announcement]]:
    """Where the source tells no rounds, a result in between says that the model was asked again."""
    response: list[Announcement] = []
    for one in announced:
        if response:
            is_later = response[-1].round_no != one.round_no
            if one.round_no is None:
                is_later = _any_between(results, position[id(response[-1])], position[id(one)])
            if is_later:
                yield response
                response = []
        response.append(one)
    yield response


def _any_between(positions: Sequence[int], since: int, until: int) -> bool:
    return bisect_left(positions, since) < bisect_left(positions, until)


def _cause(one: Announcement, nth: int, is_equal: bool, has_result_each: bool, slots: _Slots) -> tuple[Cause, bool]:
    """nth: which announcement of the id within its response this is."""
    if says_no_id(one.card_id):
        return "missing-id", True
    if slots.are_known(one.round_no):
        carrying = slots.carrying(one.round_no, one.card_id)
        if nth > carrying and slots.carrying(one.round_no, None) >= nth - carrying:
            return "missing-id", True
        if nth > 1:
            return "same-response" if nth <= carrying else "re-emitted", True
    if nth == 1:
        return "cross-round", one.round_no is not None
    return "same-response" if has_result_each or not is_equal else "re-emitted", False


def _args(one: Announcement) -> bytes | str | None:
    return one.latest.fingerprint or one.latest.args_json


def _find_owners(announced: Sequence[Announcement], updates: Sequence[Update], position: dict[int, int]) -> None:
    """An update is about the oldest call of its id that has not ended, else about the newest."""
    calls = [one for one in announced if one.is_call]
    told = 0
    waiting: deque[Announcement] = deque()
    for update in updates:
        while told < len(calls) and position[id(calls[told])] < position[id(update)]:
            waiting.append(calls[told])
            told += 1
        update.owner = waiting[0] if waiting else calls[told - 1]
        update.owner.own.append(update.event)
        if waiting and update.owner.has_ended:
            waiting.popleft()
