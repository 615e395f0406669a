"""Replies with neither text nor call, one after the other, whoever asked again: the client by itself, or a person."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

from analysis.detectors.base import EMPTY_REPLIES, Detector, Hit, SessionDetector, SessionView, TurnView
from analysis.detectors.replies import Reply
from analysis.thresholds import Thresholds
from analysis.turn_state import TurnState, evidence_of
from ingest.records import Compaction, Event, Prompt

_AUTOMATIC = frozenset(("cron", "notification", "mid-turn"))


def longest_empty(views: Sequence[TurnView]) -> list[tuple[TurnView, Reply]]:
    best: list[tuple[TurnView, Reply]] = []
    run: list[tuple[TurnView, Reply]] = []
    for view in views:
        for reply in view.replies:
            if reply.is_empty:
                run.append((view, reply))
                best = run if len(run) > len(best) else best
            elif run:
                run = []
    return best


def compaction_failed(state: TurnState) -> bool:
    """A compaction that failed can leave responses without their content: then an empty one says nothing of the model."""
    return any(_is_failed_compaction(record) for record in chain(state.turn.records, state.events))


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
    if view.empty_replies < thresholds.empty_replies:
        return None
    empty = longest_empty([view])
    if len(empty) < thresholds.empty_replies or compaction_failed(view.state):
        return None
    retries = sum(1 for event in view.state.events if event.name == "chat.content_retry")
    asked = f"; the client asked again by itself {retries}x" if retries else ""
    return _hit(empty, f"{len(empty)} empty replies in a row{asked}")


def _across_turns(view: SessionView, thresholds: Thresholds) -> Hit | None:
    if sum(turn.empty_replies for turn in view.turns) < thresholds.empty_replies:
        return None
    empty = longest_empty(view.turns)
    states = [turn.state for turn in dict.fromkeys(turn for turn, _ in empty)]
    if len(empty) < thresholds.empty_replies or len(states) < 2 or any(map(compaction_failed, states)):
        return None
    prompts = [record for state in states for record in state.turn.records if isinstance(record, Prompt)]
    automatic = sum(1 for prompt in prompts if prompt.origin in _AUTOMATIC)
    by_itself = f", {automatic} of them begun by the client itself" if automatic else ""
    return _hit(empty, f"{len(empty)} empty replies in a row over {len(states)} turns{by_itself}")


def _hit(empty: Sequence[tuple[TurnView, Reply]], reason: str) -> Hit:
    recorded = tuple(reply.response for _, reply in empty if reply.response is not None)
    return Hit(reason, "certain", first_and_last(empty), wasted_replies=recorded)


def first_and_last(empty: Sequence[tuple[TurnView, Reply]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(evidence_of(reply.told_by) for _, reply in (empty[0], empty[-1])))


_WHY = "The model, or the gateway before it, answers with nothing, and asking again does not change that."
_TRY = "look at the gateway and at the model's limits; after a change of the model, begin a new session"

IN_TURN = Detector(
    id="empty-replies",
    severity=2,
    fires_when="{empty_replies} replies in a row hold neither text nor call, and no failed compaction can have emptied them",
    why=_WHY,
    what_to_try=_TRY,
    signs=frozenset((EMPTY_REPLIES,)),
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
