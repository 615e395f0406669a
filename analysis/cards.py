"""The rows of a session's tool cards: what each showed at the end, why, and under which remedies it would have ended right."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby

from msgspec import Struct

from analysis.card_links import calls_by_card, trip_of
from analysis.card_log import ENDED, Announcement, Interface, interfaces
from analysis.card_replay import AS_IT_IS, REMEDIES, SEARCHES, Card, Outcome, Search, replay
from analysis.counting import counted
from analysis.findings import CallRow, CardRemedyRow, CardRow, FindingRow, SessionFindings, TripRow
from ingest.records import Event, SessionFacts

BREAKER = "breaker"
STUCK_CARD = "stuck-card"
_SHOWN_PLACES = 4
_SEVERITY = 4


_SWALLOWED = {
    "cross-round": "of a later response",
    "same-response": "of the same response",
    "missing-id": "without an id",
    "re-emitted": "told again after it was taken back",
}


class _Why(Struct, frozen=True):
    """Why a card does not end as it should."""

    is_stuck: bool
    reason: str


def add_cards(found: SessionFindings, facts: SessionFacts) -> None:
    """Complete the findings of a session whose turns are judged already."""
    if not facts.cards:
        return
    ends = [event for event in facts.events if event.channel == "wire" and event.name == "prompt_response"]
    for number, interface in enumerate(interfaces(facts.cards), 1):
        links = calls_by_card(interface, found.calls)
        for search in SEARCHES:
            as_it_is = replay(interface, AS_IT_IS, search)
            outcomes = [replay(interface, remedy, search) for remedy in REMEDIES]
            rows = list(_card_rows(found, interface, number, search, as_it_is, outcomes, links, ends))
            found.cards.extend(rows)
            found.card_remedies.extend(_remedy_row(rows[0], outcome) for outcome in (as_it_is, *outcomes))
            if search == "reverse":
                found.findings.extend(_stuck_findings(row for row in rows if row.is_stuck and row.cause != BREAKER))


def _card_rows(
    found: SessionFindings,
    interface: Interface,
    number: int,
    search: Search,
    as_it_is: Outcome,
    outcomes: Sequence[Outcome],
    links: dict[int, CallRow],
    ends: Sequence[Event],
) -> Iterator[CardRow]:
    by_id = interface.by_id()
    place_in_id: Counter[str | None] = Counter()
    for no, (one, card) in enumerate(zip(interface.announcements, as_it_is.cards, strict=True)):
        same_id = by_id[one.card_id]
        place_in_id[one.card_id] += 1
        nth = place_in_id[one.card_id]
        call = links.get(id(one))
        trip = trip_of(call, found) if card.state not in ENDED else None
        ends_right = no in as_it_is.right
        why = None if ends_right else _why(one, card, trip, interface, ends)
        clash = one if one.cause is not None or ends_right or nth == len(same_id) else same_id[nth]
        yield CardRow(
            session_id=one.first.session_id,
            interface_no=number,
            search=search,
            card_no=no + 1,
            card_id=one.card_id,
            surface=one.first.surface,
            tool=one.latest.tool,
            round_no=one.round_no,
            turn_no=call.turn_no if call else None,
            response_no=call.response_no if call else None,
            call_no=call.call_no if call else None,
            starts=one.starts,
            completions=card.results,
            nth_of_id=nth,
            cards_of_id=len(same_id),
            started_at=one.first.ts,
            finished_at=card.ended_by.ts if card.ended_by else None,
            state=card.state or "unknown",
            result_lines=card.result_lines or 0,
            is_stuck=why is not None and why.is_stuck,
            ends_right=ends_right,
            cause=BREAKER if trip else clash.cause,
            cause_is_certain=trip is not None or clash.cause_is_certain,
            reason=why.reason if why else None,
            trip_guard=trip.guard if trip else None,
            trip_turn_no=trip.turn_no if trip else None,
            trip_response_no=trip.response_no if trip else None,
            fixed_by=[] if ends_right else [outcome.remedy.name for outcome in outcomes if no in outcome.right],
            source_path=one.first.place.source,
            source_line=one.first.place.line,
            finished_line=card.ended_by.place.line if card.ended_by else None,
        )


def _why(one: Announcement, card: Card, trip: TripRow | None, interface: Interface, ends: Sequence[Event]) -> _Why:
    if card.state in ENDED:
        return _Why(False, "it shows the result of another call of its id")
    if trip is not None:
        where = f"turn {trip.turn_no}, response {trip.response_no}"
        return _Why(True, f"guard {trip.guard} tripped at {where} and dropped its call; the interface was told nothing")
    if one.is_call and one.has_ended:
        return _Why(True, f"its result ({one.told.result_lines or 0} lines) went to another card of its id")
    if not one.is_call:
        return _Why(True, "the same call has another card of its id, and the result goes to that one")
    end = next((event for event in ends if _is_after(event, one)), None)
    if end is not None:
        return _Why(
            True, f"the turn ended ({end.status or end.error_class or 'no reason told'}) and nothing was said of the card"
        )
    if one.round_no is not None and interface.last_round > one.round_no:
        return _Why(
            True, "the next model response began, for which all results must be there, and nothing was said of the card"
        )
    return _Why(False, "the log ends while it waits")


def _is_after(event: Event, one: Announcement) -> bool:
    if event.place.source == one.first.place.source:
        return event.place.offset > one.first.place.offset
    return one.first.surface == "sse" and (event.ts or 0) > (one.first.ts or 0)


def _remedy_row(card: CardRow, outcome: Outcome) -> CardRemedyRow:
    return CardRemedyRow(
        session_id=card.session_id,
        interface_no=card.interface_no,
        surface=card.surface,
        source_path=card.source_path,
        search=card.search,
        remedy=outcome.remedy.name,
        about=outcome.remedy.about,
        cards=len(outcome.cards),
        waiting=outcome.waiting,
        wrong=outcome.wrong,
        swallowed_calls=len(outcome.swallowed),
        run_again=len(outcome.run_again),
        loses=_loses(outcome),
    )


def _loses(outcome: Outcome) -> str | None:
    parts: list[str] = []
    if outcome.swallowed:
        counts = [(words, sum(one.cause == cause for one in outcome.swallowed)) for cause, words in _SWALLOWED.items()]
        told = ", ".join(f"{count} {words}" for words, count in counts if count)
        what = (
            "neither shown nor run" if outcome.remedy.drops_calls else "not shown, and their results overwrite another card's"
        )
        parts.append(f"swallows {counted(len(outcome.swallowed), 'genuine call')}: {told}; {what}")
    if outcome.run_again:
        parts.append(
            f"runs {counted(len(outcome.run_again), 'call')} a second time that ran once; what they answer is in no log"
        )
    return "; ".join(parts) or None


def _stuck_findings(stuck: Iterator[CardRow]) -> Iterator[FindingRow]:
    """One for all cards that one thing left behind in a turn. What a trip left is told with its turn and not once more."""

    def thing(row: CardRow) -> tuple[int, str]:
        return row.turn_no or 0, row.cause or ""

    for (turn_no, cause), group in groupby(sorted(stuck, key=thing), thing):
        rows = list(group)
        names = ", ".join(dict.fromkeys(row.card_id or "(no id)" for row in rows[:_SHOWN_PLACES]))
        more = f" and {len(rows) - _SHOWN_PLACES} more" if len(rows) > _SHOWN_PLACES else ""
        key = "\0".join(
            (STUCK_CARD, rows[0].session_id, str(turn_no), cause, *(f"{row.card_id} {row.card_no}" for row in rows))
        )
        yield FindingRow(
            finding_id=hashlib.sha256(key.encode("utf-8", "backslashreplace")).hexdigest()[:16],
            kind=STUCK_CARD,
            session_id=rows[0].session_id,
            turn_no=turn_no or None,
            severity=_SEVERITY,
            reason=f"{counted(len(rows), 'tool card')} left {rows[0].state} for ever ({names}{more}): {rows[0].reason}",
            confidence="certain" if all(row.cause_is_certain for row in rows) else "probable",
            evidence=[f"{row.source_path}:{row.source_line}" for row in rows[:_SHOWN_PLACES]],
            what_to_try=_what_to_try(rows),
        )


def _what_to_try(rows: Sequence[CardRow]) -> str:
    remedies = [remedy.name for remedy in REMEDIES if all(remedy.name in row.fixed_by for row in rows)]
    if remedies:
        return f"{' or '.join(remedies)} would have ended it right; `loopscope cards --remedies` says what each loses"
    return "look at what the agent did after the card's last line: nothing in this log ends it"
