"""All detectors over a session: its findings, which turns loop, and what the loops cost.

Several detectors may see one loop. A call is wasted once, in the finding of the worst loop that holds it, and a loop whose
calls all belong to a worse one is that same loop told again: it makes no finding of its own.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import lru_cache

from analysis.detectors import DETECTORS, SESSION_DETECTORS, Declared, Detector, Hit, SessionView, TurnView
from analysis.findings import FindingRow
from analysis.thresholds import Thresholds
from analysis.waste import waste


def detect(session_id: str, views: Sequence[TurnView], thresholds: Thresholds) -> tuple[list[FindingRow], dict[int, str]]:
    """The findings, and by turn the kind of its worst loop."""
    findings: list[FindingRow] = []
    looping: dict[int, str] = {}
    claimed: set[int] = set()
    for view in views:
        for detector in _that_may_fire(view.signs):
            hit = detector.find(view, thresholds)
            if hit is None or (detector.is_loop and _is_told_already(hit, claimed)):
                continue
            if detector.is_loop:
                looping.setdefault(view.state.turn.no, detector.id)
            findings.append(_finding(session_id, views, detector, hit, claimed, view))
    session = SessionView(views, claimed)
    for of_session in SESSION_DETECTORS:
        hit = of_session.find(session, thresholds)
        if hit is not None:
            findings.append(_finding(session_id, views, of_session, hit, claimed, None))
    return findings, looping


@lru_cache(maxsize=1024)
def _that_may_fire(signs: frozenset[str]) -> tuple[Detector, ...]:
    """In their order. Few combinations of signs come up at all."""
    return tuple(detector for detector in DETECTORS if not detector.signs.isdisjoint(signs))


def _is_told_already(hit: Hit, claimed: set[int]) -> bool:
    parts = (*hit.wasted, *hit.wasted_replies)
    return bool(parts) and all(id(part) in claimed for part in parts)


def _finding(
    session_id: str, views: Sequence[TurnView], detector: Declared, hit: Hit, claimed: set[int], view: TurnView | None
) -> FindingRow:
    cost = waste(views if view is None else (view,), hit, claimed)
    return FindingRow(
        finding_id=_finding_id(detector.id, session_id, view),
        kind=detector.id,
        session_id=session_id,
        turn_no=view.state.turn.no if view is not None else None,
        severity=hit.severity or detector.severity,
        reason=hit.reason,
        confidence=hit.confidence,
        evidence=list(hit.evidence),
        what_to_try=hit.what_to_try or detector.what_to_try,
        wasted_calls=cost.calls,
        wasted_seconds=cost.seconds,
        wasted_tokens=cost.tokens,
    )


def _finding_id(kind: str, session_id: str, view: TurnView | None) -> str:
    """The same in every store: made from the prompt's uuid, which a copied log keeps."""
    anchor = ""
    if view is not None:
        prompt = view.state.turn.prompt
        anchor = prompt.uuid if prompt is not None and prompt.uuid is not None else str(view.state.turn.no)
    return hashlib.sha256("\0".join((kind, session_id, anchor)).encode()).hexdigest()[:16]
