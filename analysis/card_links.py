"""Which recorded call a card stands for, and whether a guard's trip is what left it behind.

A card carries the recorded id, which the client makes unique since 0.21 and which repeats before: where an id has as many cards
as calls they go together in order, else each card takes the nearest call in time that no card has yet.
"""

from __future__ import annotations

from collections import defaultdict
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
        left = list(left)
        for one in ones:
            nearest = min(left, key=lambda call: abs((call.ts or 0) - (one.first.ts or 0)), default=None)
            if nearest is not None:
                links[id(one)] = nearest
                left.remove(nearest)
    return links


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
