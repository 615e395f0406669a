"""The client's own loop detector stopped the turn, by its telemetry.

Two kinds: loops of calls, and loops of text or thoughts, for which telemetry is the only witness: no text is kept, and a loop
without a call concerns no guard.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from analysis.detectors.base import TELEMETRY, Detector, Hit, TurnView
from analysis.thresholds import Thresholds
from analysis.turn_state import evidence_of
from ingest.records import Event

_OF_TEXT = frozenset(("chanting_identical_sentences", "repetitive_thoughts"))


def _of_text(view: TurnView, thresholds: Thresholds) -> Hit | None:
    return _hit(view, lambda event: event.loop_type in _OF_TEXT, "the model repeated itself without a call that did")


def _of_calls(view: TurnView, thresholds: Thresholds) -> Hit | None:
    if view.state.in_force_trip_call is not None:
        return None
    return _hit(view, lambda event: event.loop_type not in _OF_TEXT, "the client's loop detector fired")


def _hit(view: TurnView, wanted: Callable[[Event], bool], said: str) -> Hit | None:
    event = _first(event for event in view.state.events if event.name == "loop_detected" and wanted(event))
    if event is None:
        return None
    reason = f"{said}: {event.loop_type or 'unknown type'}"
    return Hit(reason, "certain", (evidence_of(event), *view.state.last_evidence))


def _first(events: Iterable[Event]) -> Event | None:
    return next(iter(events), None)


TEXT_LOOP = Detector(
    id="text-loop",
    severity=2,
    fires_when="a loop_detected event of the turn names chanting or repeated thoughts",
    why="The model's text went in a circle. No call is part of it, so no guard of calls could have ended it.",
    what_to_try="send the prompt again; if it comes back, raise the temperature or the repetition penalty, or change the model",
    signs=frozenset((TELEMETRY,)),
    find=_of_text,
    is_loop=True,
)

DETECTOR = Detector(
    id="client-loop-stop",
    severity=2,
    fires_when="another loop_detected event names the turn and no trip of the guard in force explains it",
    why="The client took what the model did for a loop, by a rule of its own and not by the ids.",
    what_to_try="look at the calls before it; the client's rule may be right or may be firing on honest repetition",
    signs=frozenset((TELEMETRY,)),
    find=_of_calls,
    is_loop=True,
)
