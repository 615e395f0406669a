"""Which recorded call a card stands for, and whether a guard's trip is what left it behind.

A card carries the recorded id, which the client makes unique since 0.21 and which repeats before: where an id has as many cards
as calls they go together in order, else each card takes the nearest call in time that no card has yet.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict, deque
from collections.abc import Sequence

from analysis.card_log import Announcement, Interface
from analysis.findings import CallRow, SessionFindings, TripRow


def calls_by_card(interface: Interface, calls: Sequence[CallRow]) -> dict[int, CallRow]:
    """By `id` of the announcement. A card that was taken back before its call ran has no call in the log."""
    recorded: dict[str | None, list[CallRow]] = defaultdict(list)
    for call in calls:
        recorded[call.recorded_id].append(call)
    announced: dict[str | None, list[Announcement]] = defaultdict(list)
    for one in interface.announcements:
        if one.is_call and not one.was_discarded:
            announced[one.card_id].append(one)
    links: dict[int, CallRow] = {}
    for card_id, ones in announced.items():
        left = recorded[card_id]
        if len(ones) == len(left):
            links.update({id(one): call for one, call in zip(ones, left, strict=True)})
            continue
        free = FreeCalls(left)
        for one in ones:
            nearest = free.take_nearest(one.first.ts or 0)
            if nearest is not None:
                links[id(one)] = nearest
    return links


class FreeCalls:
    """Calls that no card has yet, by their times, so that ten thousand of one id are handed out without a search."""

    def __init__(self, calls: Sequence[CallRow]) -> None:
        at: dict[int, deque[tuple[int, CallRow]]] = defaultdict(deque)
        for order, call in enumerate(calls):
            at[call.ts or 0].append((order, call))
        self._times = sorted(at)
        self._calls = [at[ts] for ts in self._times]
        self._earlier = list(range(len(self._times) + 1))
        """For each place, counted from 1, one at or before it that may still have calls; 0 where none does."""
        self._later = list(range(len(self._times) + 1))
        """The same at or behind it, counted from 0; past the end where none does."""

    def take_nearest(self, ts: int) -> CallRow | None:
        """Of several that are as near the one that comes first in the log."""
        after = bisect_right(self._times, ts)
        places = (_find(self._earlier, after) - 1, _find(self._later, after))
        there = [place for place in places if 0 <= place < len(self._times)]
        if not there:
            return None
        nearest = min(there, key=lambda place: (abs(self._times[place] - ts), self._calls[place][0][0]))
        _, call = self._calls[nearest].popleft()
        if not self._calls[nearest]:
            self._earlier[nearest + 1] = nearest
            self._later[nearest] = nearest + 1
        return call


def _find(pointers: list[int], place: int) -> int:
    """Follows the pointers from a place to one that stays, and lets all on the way point there."""
    end = place
    while pointers[end] != end:
        end = pointers[end]
    while pointers[place] != end:
        pointers[place], place = end, pointers[place]
    return end


def trip_of(call: CallRow | None, found: SessionFindings) -> TripRow | None:
    """The trip that dropped the call's batch, of the guard that was in force."""
    if call is None or call.outcome != "dropped":
        return None
    in_force = {turn.turn_no: turn.guard_in_force for turn in found.turns}
    for trip in found.trips:
        is_real = trip.basis == "observed" and trip.guard == in_force.get(trip.turn_no)
        if is_real and (trip.turn_no, trip.response_no) == (call.turn_no, call.response_no):
            return trip
    return None
