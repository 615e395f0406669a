"""What a session's other evidence says that its log cannot: calls dropped before it was written, the client's own detector.

A call whose id comes twice in one response is dropped by Qwen Code before it writes anything (QWEN_CODE.md 3), so no such call
in the log proves nothing, and 0 would be invented. 0 is said only where a debug log of a version that names what it drops (0.21
on; 0.15.10 does not) was being written at every response with calls, and no response was thrown away whole: an id twice can
be what was wrong with it. A sub-agent's lines stand in its parent's debug log, and are counted there.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence, Set
from operator import itemgetter

from analysis.client_facts import version_of
from analysis.findings import CardRow, LoopEventRow, SessionFindings, SessionRow
from analysis.trips import BREAKER_EVENT
from ingest.records import Event

SAME_RESPONSE = "same-response"
_DROPPED = "debug.same_response_duplicate"
_STRETCH = "debug.stretch"
_THROWN_AWAY = "InvalidStreamError"
_FIRST_TO_NAME_DROPS = (0, 21, 2)
_BESIDE = 5_000_000
"""Microseconds between a response's time and the debug lines around it: milliseconds in the runs, more on a busy machine."""


def add_session_evidence(session: SessionRow, events: Sequence[Event], found: SessionFindings) -> None:
    """events: of all sources, the log's among them."""
    names = {event.name for event in events}
    session.same_response_duplicates = _same_response_duplicates(events, names, found)
    session.loop_detection = _loop_detection(names, found.loop_events)


def _same_response_duplicates(events: Sequence[Event], names: Set[str], found: SessionFindings) -> int | None:
    """Calls beyond the first of their id in a response. None where no evidence could show them.

    Sources tell of the same calls, so the one that tells most counts and nothing is added up.
    """
    dropped = sum(event.name == _DROPPED for event in events) if _DROPPED in names else 0
    in_log = len([call for call in found.calls if call.call_class == SAME_RESPONSE and not call.inherited])
    seen = max(in_log, dropped, _on_cards(found.cards))
    if seen or _STRETCH not in names:
        return seen or None
    names_drops = all(
        (version_of(turn.client_version) or (0,)) >= _FIRST_TO_NAME_DROPS for turn in found.turns if not turn.inherited
    )
    thrown_away = any(event.error_class == _THROWN_AWAY for event in events)
    calls = [call.ts for call in found.calls if not call.inherited]
    return 0 if names_drops and not thrown_away and _was_all_written(events, calls) else None


def _on_cards(cards: Iterable[CardRow]) -> int:
    """Of the interface that was told most."""
    told: dict[int, int] = {}
    for card in cards:
        if card.search == "reverse" and card.cause == SAME_RESPONSE and card.nth_of_id > 1:
            told[card.interface_no] = told.get(card.interface_no, 0) + 1
    return max(told.values(), default=0)


def _was_all_written(events: Iterable[Event], calls: Sequence[int | None]) -> bool:
    """calls: their times."""
    stretches = _joined(
        (event.ts - _BESIDE, event.ts + round((event.duration_ms or 0) * 1000) + _BESIDE)
        for event in events
        if event.name == _STRETCH and event.ts is not None
    )
    return bool(stretches and calls) and all(_is_within(ts, stretches) for ts in calls)


def _joined(stretches: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """The same times in stretches that do not meet, in order."""
    joined: list[tuple[int, int]] = []
    for first, last in sorted(stretch for stretch in stretches if stretch[0] <= stretch[1]):
        if joined and first <= joined[-1][1]:
            first, last = joined[-1][0], max(last, joined.pop()[1])
        joined.append((first, last))
    return joined


def _is_within(ts: int | None, stretches: Sequence[tuple[int, int]]) -> bool:
    if ts is None:
        return False
    begun = bisect_right(stretches, ts, key=itemgetter(0))
    return begun > 0 and ts <= stretches[begun - 1][1]


def _loop_detection(names: Set[str], loop_events: Iterable[LoopEventRow]) -> str:
    """Whether the client's own loop detector ran: `off` once it says so, `on` where it fired. The breaker has an event too."""
    if "loop_detection_disabled" in names:
        return "off"
    fired = any(event.loop_type != BREAKER_EVENT or event.explained_by == "detector" for event in loop_events)
    return "on" if fired else "unknown"
