"""From a recorded session to the smallest, redacted case in which two guards still differ."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from analysis.case_facts import CaseSession
from analysis.case_redaction import Redaction, steps_of
from analysis.client_facts import turn_version
from analysis.guard_case import CaseCall, GuardCase, PromptStep, ResponseStep, Step
from analysis.guards import Contender
from analysis.shrink import shrink
from analysis.trial import replayed
from analysis.turn_state import TurnState
from ingest.records import SessionFacts


class NoDifference(Exception):
    """The guards do not differ there, or not once it is redacted; the text says which."""


@dataclass(frozen=True)
class Difference:
    base: str
    candidate: str


def cut_case(facts: SessionFacts, base: Contender, candidate: Contender, turn_no: int | None = None) -> GuardCase:
    """turn_no: look for the difference in this turn alone. Raises NoDifference, and GuardFailed where a guard is not ours."""
    states = replayed(facts, base, candidate)
    found = next(_differences(states, base, candidate, turn_no), None)
    if found is None:
        where = "in this session" if turn_no is None else f"in turn {turn_no}"
        raise NoDifference(f"{base.name} and {candidate.name} do not differ {where} as a fact")
    index, difference = found
    state = states[index]
    redaction = Redaction()
    steps = [step for one in states[: index + 1] for step in steps_of(one, redaction)]

    def case_of(steps: Sequence[Step]) -> GuardCase:
        return GuardCase(steps=list(steps), entry_point=state.entry_point, client_version=turn_version(state.turn))

    def still_shows(steps: Sequence[Step]) -> bool:
        if not isinstance(steps[0], PromptStep):
            return False
        shown = replayed(CaseSession(case_of(steps)).facts(), base, candidate)
        return any(difference == other for _, other in _differences(shown, base, candidate, None))

    if not still_shows(steps):
        raise NoDifference(
            f"{base.name} and {candidate.name} differ there by something that redaction takes away, such as how arguments were "
            "written"
        )
    small = _without_calls(shrink(steps, still_shows), still_shows)
    case = case_of(small)
    case.about = f"{base.name} decides {difference.base}, {candidate.name} {difference.candidate}"
    final = replayed(CaseSession(case).facts(), base, candidate)
    case.decisions = {one.name: decisions_of(final, one.name) for one in (base, candidate)}
    return case


def decisions_of(states: Sequence[TurnState], guard: str) -> list[list[str]]:
    """A list a response; `not-reached` where the guard had ended the turn."""
    decided: list[list[str]] = []
    for state in states:
        replay = state.decided_by(guard)
        exceptions = {(response, call): decision for response, call, decision in replay.exceptions}
        last = replay.trip.response_no if replay.trip is not None else None
        for response in (one for one in state.turn.responses if one.calls):
            is_over = last is not None and response.no > last
            decided.append(
                ["not-reached" if is_over else exceptions.get((response.no, call.no), "execute") for call in response.calls]
            )
    return decided


def _differences(
    states: Sequence[TurnState], base: Contender, candidate: Contender, turn_no: int | None
) -> Iterator[tuple[int, Difference]]:
    """Turns with the first call on which the two differ as a fact."""
    for index, state in enumerate(states):
        if turn_no is not None and state.turn.no != turn_no:
            continue
        one, other = state.decided_by(base.name), state.decided_by(candidate.name)
        observed_to = min((replay.divergence[0] for replay in (one, other) if replay.divergence is not None), default=None)
        first, second = ({(r, c): d for r, c, d in replay.exceptions} for replay in (one, other))
        for place in sorted(first.keys() | second.keys()):
            pair = Difference(first.get(place, "execute"), second.get(place, "execute"))
            if (observed_to is None or place[0] <= observed_to) and pair.base != pair.candidate:
                yield index, pair
                break


def _without_calls(steps: Sequence[Step], still_shows: Callable[[Sequence[Step]], bool]) -> list[Step]:
    """Each response with as few of its calls as will do."""
    left = list(steps)
    for index, step in enumerate(left):
        if isinstance(step, ResponseStep) and len(step.calls) > 1:

            def with_calls(calls: list[CaseCall], index: int = index) -> list[Step]:
                return [*left[:index], ResponseStep(calls), *left[index + 1 :]]

            calls = shrink(step.calls, lambda calls, with_calls=with_calls: still_shows(with_calls(calls)))  # type: ignore[misc]
            left[index] = ResponseStep(calls)
    return left
