"""One call again and again with the same answer, wherever in a turn or in a session it stands."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from analysis.call_keys import Comparison
from analysis.detectors.base import (
    EQUAL_ANSWERS,
    Detector,
    Hit,
    SessionDetector,
    SessionView,
    TurnView,
    first_hit,
    lines,
    tools,
)
from analysis.detectors.repeats import Repeats
from analysis.thresholds import Thresholds
from analysis.turn_state import JudgedCall

_BY_A_TIMER = frozenset(("cron", "notification"))
"""A check that a timer asks for says the same most of the time: that is its work."""


def _in_turn(view: TurnView, thresholds: Thresholds) -> Hit | None:
    if view.step_count < thresholds.spread_in_turn or view.most_alike < thresholds.spread_in_turn:
        return None

    def look(comparison: Comparison) -> Hit | None:
        if _most_equal(view.state.calls, comparison) < thresholds.spread_in_turn:
            return None
        found = Repeats(comparison.key).walk(_once_a_response(view, comparison)).by_key
        calls = max(found.values(), key=len, default=[])
        if len(calls) < thresholds.spread_in_turn:
            return None
        reason = f"{tools(calls)} {len(calls)}x among {len(view.state.calls)} calls of the turn {comparison.in_words(calls)}"
        return Hit(reason, comparison.confidence, lines(calls), wasted=tuple(calls[1:]))

    return first_hit(view.comparisons, look)


def _in_session(view: SessionView, thresholds: Thresholds) -> Hit | None:
    asked = [turn for turn in view.turns if turn.state.turn.prompt is None or turn.state.turn.prompt.origin not in _BY_A_TIMER]
    if len(asked) < thresholds.spread_turns or sum(len(turn.state.calls) for turn in asked) < thresholds.spread_in_session:
        return None
    if sum(turn.most_alike for turn in asked) < thresholds.spread_in_session:
        return None

    def look(comparison: Comparison) -> Hit | None:
        if _most_equal([call for turn in asked for call in turn.state.calls], comparison) < thresholds.spread_in_session:
            return None
        turn_of: dict[int, int] = {}
        ordered: list[JudgedCall] = []
        for turn in asked:
            for call in _once_a_response(turn, comparison):
                turn_of[id(call)] = turn.state.turn.no
                ordered.append(call)
        found = Repeats(comparison.key).walk(ordered).by_key.values()
        for calls in sorted((_unclaimed(calls, view.claimed) for calls in found), key=len, reverse=True):
            if len(calls) < thresholds.spread_in_session:
                return None
            turns = len({turn_of[id(call)] for call in calls})
            if turns >= thresholds.spread_turns:
                reason = f"{tools(calls)} {len(calls)}x over {turns} turns {comparison.in_words(calls)}"
                return Hit(reason, comparison.confidence, lines(calls), wasted=tuple(calls[1:]))
        return None

    return first_hit(view.comparisons(thresholds.spread_in_session), look)


def _most_equal(calls: Sequence[JudgedCall], comparison: Comparison) -> int:
    """The most that any repeats can come to: spares most turns the walk."""
    return max(Counter(key for call in calls if (key := comparison.key(call)) is not None).values(), default=0)


def _once_a_response(view: TurnView, comparison: Comparison) -> Iterator[JudgedCall]:
    """A sweep within one response counts once."""
    for step in view.steps:
        seen: set[object] = set()
        for call in step.calls:
            key = comparison.key(call)
            if key is None or key not in seen:
                yield call
            seen.add(key)


def _unclaimed(calls: Sequence[JudgedCall], claimed: set[int]) -> list[JudgedCall]:
    return [call for call in calls if id(call) not in claimed]


_WHY = "The model forgets what it was told: the answer was the same each time, and nothing was edited in between."
_TRY = "check whether the result is cut or compacted away before the model reads it; put it into the prompt"

IN_TURN = Detector(
    id="spread-out-repeats",
    severity=2,
    fires_when="one call stands in {spread_in_turn} responses of a turn, answered alike, with no new edit in between",
    why=_WHY,
    what_to_try=_TRY,
    signs=frozenset((EQUAL_ANSWERS,)),
    find=_in_turn,
    is_loop=True,
)

IN_SESSION = SessionDetector(
    id="repeats-across-turns",
    severity=2,
    fires_when=(
        "one call stands in {spread_in_session} responses over {spread_turns} turns of a session or more, answered alike, with "
        "no new edit in between; calls of a turn's own loop, and turns begun by a timer or a background task, are left out"
    ),
    why=_WHY,
    what_to_try=_TRY,
    find=_in_session,
    is_loop=True,
)
