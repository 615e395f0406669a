"""What a detector is: one declared reason to look at a turn, or at a session.

Each is declared once, so that the pages, the CLI and the documentation read the same words: id, when it fires, why it matters,
what to try. It answers with at most one hit. One that looks at a turn sees this turn with its verdict and no other; one that
looks at a session sees all its turns and the calls that their loops have claimed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from msgspec import Struct
from msgspec.structs import asdict

from analysis.call_keys import Comparison, comparisons, most_alike
from analysis.detectors.replies import Reply, count_empty, replies_of
from analysis.history import Batch
from analysis.thresholds import Thresholds
from analysis.timeline import TimelineResponse
from analysis.turn_state import JudgedCall, TurnState
from analysis.verdicts import Verdict

EQUAL_ANSWERS = "equal answers"
EMPTY_REPLIES = "empty replies"
ARGUMENTS_NOT_WHOLE = "arguments not whole"
TELEMETRY = "telemetry"
"""Signs that a turn can show, beside its verdict and the classes and outcomes of its calls."""


class Hit(Struct, frozen=True):
    reason: str
    confidence: str
    evidence: tuple[str, ...]
    severity: int | None = None
    """None: as declared."""
    what_to_try: str | None = None
    """None: as declared."""
    wasted: tuple[JudgedCall, ...] = ()
    """Calls that brought nothing: the first of equals did, and is not among them."""
    wasted_replies: tuple[TimelineResponse, ...] = ()
    """Responses without a call that brought nothing."""


class Step(Struct, frozen=True, eq=False):
    """A response that holds calls."""

    batch: Batch
    calls: tuple[JudgedCall, ...]


@dataclass(eq=False)
class TurnView:
    """A turn as the detectors see it. What several of them need is worked out once, and most of it only if one asks."""

    state: TurnState
    verdict: Verdict
    most_alike: int = field(init=False)
    """So many of its calls, at most, are equal by any comparison: equal calls have equal answers."""
    empty_replies: int = field(init=False)

    def __post_init__(self) -> None:
        self.most_alike = most_alike(self.state.calls)
        self.empty_replies = count_empty(self.state)

    @property
    def signs(self) -> frozenset[str]:
        """Its verdict, the classes and outcomes of its calls, and what there must be two of before anything is repeated."""
        state = self.state
        signs = {self.verdict.verdict, *state.classes, *state.outcomes}
        if self.most_alike > 1:
            signs.add(EQUAL_ANSWERS)
        if self.empty_replies > 1:
            signs.add(EMPTY_REPLIES)
        if None in state.turn.repeated:
            signs.add(ARGUMENTS_NOT_WHOLE)
        if state.events:
            signs.add(TELEMETRY)
        return frozenset(signs)

    @cached_property
    def step_count(self) -> int:
        """Responses that hold calls."""
        return sum(1 for response in self.state.turn.responses if response.calls)

    @cached_property
    def failures(self) -> int:
        return sum(call.outcome == "failed" for call in self.state.calls)

    @cached_property
    def steps(self) -> list[Step]:
        by_batch: dict[int, list[JudgedCall]] = {}
        for call in self.state.calls:
            by_batch.setdefault(id(call.batch), []).append(call)
        return [Step(calls[0].batch, tuple(calls)) for calls in by_batch.values()]

    @cached_property
    def replies(self) -> list[Reply]:
        return list(replies_of(self.state))

    @cached_property
    def comparisons(self) -> list[Comparison]:
        """The strict comparison of its calls, then the loose one where that can make a difference."""
        return comparisons(self.state.calls)


@dataclass(eq=False)
class SessionView:
    turns: Sequence[TurnView]
    claimed: set[int]
    """By id(): calls that a loop of their turn is made of."""

    def comparisons(self, fewest: int) -> list[Comparison]:
        """As of `analysis.call_keys`, of all its calls."""
        return comparisons([call for turn in self.turns for call in turn.state.calls], fewest)


class Declared(Struct, frozen=True, kw_only=True):
    id: str
    severity: int
    """1 is worst: 1 stuck in silence, 2 loops, 3 fresh calls killed, 4 and up for the record."""
    fires_when: str
    """`{name}` stands for the threshold of that name."""
    why: str
    what_to_try: str
    is_loop: bool = False
    """Whether a hit makes the turn `looping`. Of a turn's loops the one declared first is the worst."""

    def when(self, thresholds: Thresholds) -> str:
        return self.fires_when.format_map(asdict(thresholds))


class Detector(Declared, frozen=True, kw_only=True):
    signs: frozenset[str]
    """It can fire on a turn only that shows one of them: nearly every turn shows none that speaks of a loop."""
    find: Callable[[TurnView, Thresholds], Hit | None]


class SessionDetector(Declared, frozen=True, kw_only=True):
    find: Callable[[SessionView, Thresholds], Hit | None]


def first_hit(comparisons: Sequence[Comparison], look: Callable[[Comparison], Hit | None]) -> Hit | None:
    """The hit of the first comparison that has one: a strict one makes the loose one idle."""
    return next((hit for comparison in comparisons if (hit := look(comparison)) is not None), None)


def lines(calls: Sequence[JudgedCall]) -> tuple[str, ...]:
    """Evidence: where the first and the last of them stand."""
    return tuple(dict.fromkeys((calls[0].evidence, calls[-1].evidence)))


def tools(calls: Sequence[JudgedCall]) -> str:
    return ", ".join(dict.fromkeys(call.of_batch.call.call.tool or "a call without a name" for call in calls))
