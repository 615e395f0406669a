"""What a detector is: one declared reason to look at a turn.

Each is declared once, so that the pages, the CLI and the documentation read the same words: id, when it fires, why it matters,
what to try. A detector sees one turn with its verdict and answers with at most one hit; it never looks at another turn.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from analysis.turn_state import TurnState
from analysis.verdicts import Verdict


class Hit(Struct, frozen=True):
    reason: str
    confidence: str
    evidence: tuple[str, ...]
    severity: int | None = None
    """None: as declared."""
    what_to_try: str | None = None
    """None: as declared."""


class Detector(Struct, frozen=True):
    id: str
    severity: int
    """1 is worst: 1 stuck in silence, 2 loops, 3 fresh calls killed, 4 and up for the record."""
    fires_when: str
    why: str
    what_to_try: str
    find: Callable[[TurnState, Verdict], Hit | None]
    is_loop: bool = False
    """Whether a hit makes the turn `looping`."""
