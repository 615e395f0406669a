"""Replies with neither text nor call, one after the other, whoever asked again: the client by itself, or a person.

0.24.4 writes the last of them down as `(empty content)` and 0.21 none at all; that the request was answered is told each time
by an api_response event (recordings g3, g4: five requests, no content).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from analysis.detectors.base import Detector, Hit, SessionDetector, SessionView, TurnView
from analysis.thresholds import Thresholds
from analysis.timeline import TimelineResponse
from analysis.turn_state import TurnState, evidence_of
from ingest.records import Compaction, Event, Prompt

_AUTOMATIC = frozenset(("cron", "notification", "mid-turn"))


@dataclass(frozen=True, slots=True)
class Reply:
    """One reply; `empty` holds the record that tells of an empty one."""

    turn_no: int
    evidence: str
    is_empty: bool
    response: TimelineResponse | None = None


def replies_of(state: TurnState) -> Iterator[Reply]:
    announced: Event | None = None
    for item in state.turn.items:
        if isinstance(item, TimelineResponse):
            announced = None
            yield Reply(state.turn.no, evidence_of(item.records[0]), not item.calls and not item.has_text, item)
        elif isinstance(item, Event) and item.name == "api_response" and item.prompt_id == state.prompt_id:
            if announced is not None:
                yield Reply(state.turn.no, evidence_of(announced), True)
            announced = item
    if announced is not None:
        yield Reply(state.turn.no, evidence_of(announced), True)


def longest_empty(states: Sequence[TurnState]) -> list[Reply]:
    best: list[Reply] = []
    run: list[Reply] = []
    for state in states:
        for reply in replies_of(state):
            run = [*run, reply] if reply.is_empty else []
            best = max(best, run, key=len)
    return best


def compaction_failed(state: TurnState) -> bool:
    """A compaction that failed can leave responses without their content: then an empty one says nothing of the model."""
    return any(_is_failed_compaction(record) for record in (*state.turn.records, *state.events))


def _is_failed_compaction(record: object) -> bool:
    if isinstance(record, Compaction):
        return not record.entries
    if not isinstance(record, Event):
        return False
    is_compaction = (record.prompt_id or "").startswith("compress-") or "compress" in record.name or "compact" in record.name
    return is_compaction and (
        record.name == "api_error" or record.error_class is not None or record.status in ("error", "failed")
    )


def _in_turn(view: TurnView, thresholds: Thresholds) -> Hit | None:
    empty = longest_empty([view.state])
    if len(empty) < thresholds.empty_replies or compaction_failed(view.state):
        return None
    retries = sum(1 for event in view.state.events if event.name == "chat.content_retry")
    asked = f"; the client asked again by itself {retries}x" if retries else ""
    return _hit(empty, f"{len(empty)} empty replies in a row{asked}")


def _across_turns(view: SessionView, thresholds: Thresholds) -> Hit | None:
    empty = longest_empty([turn.state for turn in view.turns])
    within = {reply.turn_no for reply in empty}
    states = [turn.state for turn in view.turns if turn.state.turn.no in within]
    if len(empty) < thresholds.empty_replies or len(within) < 2 or any(map(compaction_failed, states)):
        return None
    prompts = [record for state in states for record in state.turn.records if isinstance(record, Prompt)]
    automatic = sum(1 for prompt in prompts if prompt.origin in _AUTOMATIC)
    by_itself = f", {automatic} of them begun by the client itself" if automatic else ""
    return _hit(empty, f"{len(empty)} empty replies in a row over {len(within)} turns{by_itself}")


def _hit(empty: Sequence[Reply], reason: str) -> Hit:
    evidence = tuple(dict.fromkeys((empty[0].evidence, empty[-1].evidence)))
    return Hit(
        reason, "certain", evidence, wasted_replies=tuple(reply.response for reply in empty if reply.response is not None)
    )


_WHY = "The model, or the gateway before it, answers with nothing, and asking again does not change that."
_TRY = "look at the gateway and at the model's limits; after a change of the model, begin a new session"

IN_TURN = Detector(
    id="empty-replies",
    severity=2,
    fires_when="{empty_replies} replies in a row hold neither text nor call, and no failed compaction can have emptied them",
    why=_WHY,
    what_to_try=_TRY,
    find=_in_turn,
    is_loop=True,
)

ACROSS_TURNS = SessionDetector(
    id="empty-replies-across-turns",
    severity=2,
    fires_when="{empty_replies} replies in a row, over more than one turn, hold neither text nor call",
    why=_WHY,
    what_to_try=_TRY,
    find=_across_turns,
    is_loop=True,
)
