"""The same action put to a person again: same tool, same arguments, another id, and approval asked each time.

No guard that goes by ids can see it, and a person who clicks through a row of equal questions approves what was denied, or
twice what should happen once. Only what was really asked counts: what an interface was told of approvals, and the decisions
that telemetry ascribes to a person. A client set to approve by itself asks nobody.
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from analysis.findings import CallRow, FindingRow
from ingest.records import CardEvent, Event, SessionFacts

HIGH_RISK_REPEAT = "high-risk-repeat"
_SEVERITY = 3
_SHOWN = 4
_DECIDED_BY_A_PERSON = frozenset(("accept", "reject", "modify"))
_WORDS = {"accept": "approved", "modify": "approved", "reject": "denied"}

_Action = tuple[str, bytes | str]


class Asked(Struct, frozen=True):
    """One approval that a person was asked for."""

    call_id: str
    tool: str
    arguments: bytes | str
    """Fingerprint, or the text where the arguments are no JSON."""
    answer: str
    place: str
    turn_no: int | None = None


def high_risk_repeats(facts: SessionFacts, calls: Sequence[CallRow]) -> list[FindingRow]:
    if not facts.cards and not facts.events:
        return []
    actions: dict[_Action, dict[str, Asked]] = defaultdict(dict)
    for asked in (*_on_cards(facts.cards, calls), *_in_telemetry(facts.events, calls)):
        actions[asked.tool, asked.arguments].setdefault(asked.call_id, asked)
    return [_finding(facts.session_id, list(asked.values())) for asked in actions.values() if len(asked) > 1]


def _on_cards(events: Iterable[CardEvent], calls: Sequence[CallRow]) -> Iterator[Asked]:
    turn_of = {call.recorded_id: call.turn_no for call in calls}
    told: dict[str, CardEvent] = {}
    """The last event of an id that told its arguments."""
    for event in events:
        if event.card_id and event.args_json is not None and event.kind in ("start", "update", "ask", "approval"):
            told[event.card_id] = event
        if event.kind != "approval" or not event.card_id:
            continue
        of_call = told.get(event.card_id)
        if of_call is not None and of_call.args_json is not None:
            yield Asked(
                event.card_id,
                of_call.tool or "",
                of_call.fingerprint or of_call.args_json,
                event.status or "unanswered",
                f"{event.place.source}:{event.place.line}",
                turn_of.get(event.card_id),
            )


def _in_telemetry(events: Iterable[Event], calls: Sequence[CallRow]) -> Iterator[Asked]:
    recorded = {call.recorded_id: call for call in calls}
    for event in events:
        decision = event.attributes.get("decision", "")
        call = recorded.get(event.call_id)
        if event.name != "tool_call" or decision not in _DECIDED_BY_A_PERSON or call is None or call.fingerprint is None:
            continue
        place = f"{event.place.source}:{event.place.line}"
        yield Asked(call.recorded_id or "", call.tool, call.fingerprint, _WORDS[decision], place, call.turn_no)


def _finding(session_id: str, asked: Sequence[Asked]) -> FindingRow:
    first = asked[0]
    turns = {one.turn_no for one in asked}
    answers = ", ".join(f"{count} {answer}" for answer, count in Counter(one.answer for one in asked).items())
    ids = ", ".join(one.call_id for one in asked[:_SHOWN]) + (f" and {len(asked) - _SHOWN} more" if len(asked) > _SHOWN else "")
    key = "\0".join((HIGH_RISK_REPEAT, session_id, first.tool, *(one.call_id for one in asked[:1])))
    return FindingRow(
        finding_id=hashlib.sha256(key.encode("utf-8", "backslashreplace")).hexdigest()[:16],
        kind=HIGH_RISK_REPEAT,
        session_id=session_id,
        turn_no=next(iter(turns)) if len(turns) == 1 else None,
        severity=_SEVERITY,
        reason=f"{first.tool} with the same arguments was put to a person {len(asked)} times, under the ids {ids} ({answers})",
        confidence="certain",
        evidence=[one.place for one in asked[:_SHOWN]],
        what_to_try="`loopscope guard diff fingerprint args-dedup` says what a guard that goes by arguments would have done",
        wasted_calls=len(asked) - 1,
    )
