"""The cards that an interface shows at the end: as it is, and as each remedy would have had it.

The interface adds a card at every start and gives an update to one card of its id, whatever state that is in: the last one
(a `reverse` search) or the first one (`forward`). So where two cards carry one id, one of them may wait for ever.

A remedy is replayed on what was told; what a call would have answered that never ran, nobody knows. Each has its price:
a remedy that goes by ids alone takes a genuine second call for the first one's echo.
"""

from __future__ import annotations

from collections.abc import Callable, Set
from dataclasses import dataclass
from typing import Literal

from msgspec import Struct

from analysis.card_log import ENDED, Announcement, Interface, Update
from analysis.provider_ids import says_no_id
from ingest.records import CardEvent

Search = Literal["reverse", "forward"]
SEARCHES: tuple[Search, ...] = ("reverse", "forward")

Key = tuple[object, ...]


@dataclass(slots=True, eq=False)
class Card:
    announcement: Announcement
    address: Key
    """What an update is sent to."""
    state: str | None
    results: int = 0
    """Updates with a final state that reached it."""
    result_lines: int | None = None
    ended_by: CardEvent | None = None


class Remedy(Struct, frozen=True):
    name: str
    about: str
    key: Callable[[Announcement], Key] | None = None
    """A start whose key has a card already adds none. None: every start adds one."""
    drops_calls: bool = False
    """A call whose id was announced before is dropped behind the interface: neither announced nor run."""
    renames: bool = False
    """A call without an id, or with one that was announced before, gets an id of its own before anybody is told of it."""


AS_IT_IS = Remedy("none", "the interface as it is: every start adds a card")
REMEDIES: tuple[Remedy, ...] = (
    Remedy("start-once-per-id", "the interface ignores a start whose id has a card", key=lambda one: (one.card_id,)),
    Remedy(
        "start-once-per-round",
        "the interface ignores a start whose id has a card of the same model response",
        key=lambda one: (one.card_id, one.response),
    ),
    Remedy(
        "dedup-by-id",
        "a call whose id was seen is dropped behind the interface, before it is announced or run",
        drops_calls=True,
    ),
    Remedy(
        "placeholder-ids", "a call whose id is missing or was seen gets an id of its own before it is announced", renames=True
    ),
)


class Outcome(Struct, frozen=True):
    """What one remedy makes of one interface."""

    remedy: Remedy
    announcements: tuple[Announcement, ...]
    cards: tuple[Card, ...]
    right: frozenset[int]
    """Indexes of the announcements whose card ends as it should, or that rightly have none."""
    swallowed: tuple[Announcement, ...]
    """Calls of their own that no card shows."""
    run_again: tuple[Announcement, ...]
    """Copies of a call that did not run and now would: their results are in no log."""

    @property
    def wrong(self) -> int:
        """How many announcements do not end right. What would run again is open."""
        again = {id(one) for one in self.run_again}
        return sum(no not in self.right and id(one) not in again for no, one in enumerate(self.announcements))

    @property
    def waiting(self) -> int:
        again = {id(one) for one in self.run_again}
        return sum(card.state not in ENDED and id(card.announcement) not in again for card in self.cards)


def replay(interface: Interface, remedy: Remedy, search: Search) -> Outcome:
    shown = _Shown(remedy, search)
    for step in interface.steps:
        if isinstance(step, Update):
            shown.update(step)
        else:
            shown.start(step)
    own = {id(card.announcement): card for card in shown.cards}
    calls = [one for one in interface.announcements if one.is_call and (one.cause != "re-emitted" or remedy.drops_calls)]
    results = {id(card.ended_by) for card in shown.cards}
    return Outcome(
        remedy,
        tuple(interface.announcements),
        tuple(shown.cards),
        frozenset(no for no, one in enumerate(interface.announcements) if _ends_right(one, own.get(id(one)), results)),
        tuple(one for one in calls if id(one) not in own),
        tuple(one for one in interface.announcements if remedy.renames and one.cause == "same-response" and not one.is_call),
    )


class _Shown:
    def __init__(self, remedy: Remedy, search: Search) -> None:
        self.cards: list[Card] = []
        self._remedy = remedy
        self._search = search
        self._seen: set[str | None] = set()
        self._dropped: set[int] = set()
        self._renamed: dict[int, Key] = {}
        self._keys: set[Key] = set()
        self._found: dict[Key, Card] = {}
        """By address, what the search finds."""

    def start(self, one: Announcement) -> None:
        was_seen = one.card_id in self._seen
        self._seen.add(one.card_id)
        if self._remedy.drops_calls and was_seen:
            self._dropped.add(id(one))
            return
        address: Key = (one.card_id,)
        if self._remedy.renames and one.cause != "re-emitted" and (was_seen or says_no_id(one.card_id)):
            address = self._renamed[id(one)] = (one.card_id, id(one))
        key = self._remedy.key(one) if self._remedy.key is not None else (id(one),)
        if key in self._keys:
            return
        card = Card(one, address, one.first.status if one.starts else None)
        self.cards.append(card)
        self._keys.add(key)
        if self._search == "reverse" or address not in self._found:
            self._found[address] = card

    def update(self, update: Update) -> None:
        if id(update.owner) in self._dropped:
            return
        card = self._found.get(self._renamed.get(id(update.owner), (update.event.card_id,)))
        if card is None or update.event.status is None:
            return
        card.state = update.event.status
        if card.state in ENDED:
            card.results += 1
            card.result_lines = update.event.result_lines
            card.ended_by = update.event


def _ends_right(one: Announcement, card: Card | None, results: Set[int]) -> bool:
    """A call has a card of its own that ends with its own result; an echo has none, or one that at least has ended."""
    if not one.is_call or one.was_discarded:
        return card is None or card.state in ENDED
    if card is None and one.cause == "re-emitted":
        return id(one.told) in results
    return card is not None and one.has_ended and card.ended_by is one.told
