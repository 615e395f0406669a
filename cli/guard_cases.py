"""Test cases replayed: what guards decide on each call of a file that `guard fixture` wrote, or somebody by hand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from analysis.inert_text import inert
from cli.guard_options import GuardOptions

COLUMNS = ("guard", "response", "call", "id", "name", "answered", "decision", "expected", "agrees")


def replay_case(path: Path, options: GuardOptions, names: Sequence[str]) -> Iterator[dict[str, Any]]:
    """One row a guard and call. `expected`: what the file says of a guard of that name.

    Raises usage errors; GuardFailed where a guard is not ours.
    """
    from analysis.case_cut import decisions_of
    from analysis.case_facts import CaseSession
    from analysis.guard_case import BadCase, ResponseStep, read_case
    from analysis.guards import BUILT_IN
    from analysis.trial import replayed
    from cli.guard_lab import loaded

    try:
        case = read_case(path.read_bytes())
    except (OSError, BadCase) as e:
        raise click.BadParameter(f"{path}: {inert(str(e))}", param_hint="--fixture") from e
    built_in = {one.name: one for one in BUILT_IN}
    for name in names:
        if name not in built_in and name not in options.specs:
            raise click.UsageError(f"There is no guard {name!r}. Known are: {', '.join((*built_in, *options.specs))}.")
    session = CaseSession(case)
    facts = session.facts()
    steps = [step for step in case.steps if isinstance(step, ResponseStep)]
    with loaded(options, session.source) as others:
        all_guards = {**built_in, **{one.name: one for one in others}}
        for name in names or (*all_guards,):
            decided = decisions_of(replayed(facts, all_guards[name]), name)
            expected = case.decisions.get(name)
            for response, (step, decisions) in enumerate(zip(steps, decided, strict=True), 1):
                for number, (call, decision) in enumerate(zip(step.calls, decisions, strict=True), 1):
                    wanted = _at(expected, response, number)
                    yield {
                        "guard": name,
                        "response": response,
                        "call": number,
                        "id": call.id,
                        "name": call.name,
                        "answered": call.answered,
                        "decision": decision,
                        "expected": wanted,
                        "agrees": None if wanted is None else wanted == decision,
                    }


def _at(expected: Sequence[Sequence[str]] | None, response: int, number: int) -> str | None:
    """None where the file, which a person may have changed, says nothing of that call."""
    if expected is None or response > len(expected) or number > len(expected[response - 1]):
        return None
    return expected[response - 1][number - 1]
