"""Two guards over the same history: what a difference is called, what proves a change, and when a gate may pass.

The counts come from `analysis/sql/guard_pairs.sql`; here is what they mean. Two rules:
- a finding is a fact, however little was covered: it fails the gate;
- no finding proves something only where it could have shown. So each change names the calls on which it can show at all, and
  a gate that saw none of those, or too little of the history, cannot tell.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

FORMAT_VERSION = 1
"""Of the JSON form and of baselines. Members may be added under one version; a renamed or dropped one raises it."""

IN_FORCE = "in-force"
"""In place of a guard's name: whichever guard was in force in each turn."""

DEFAULT_COVERAGE = 50.0
"""Percent of the calls that must be valid before a gate may pass. In logs of ordinary work nearly all are; half a history that
went another way is no proof."""


@dataclass(frozen=True)
class Change:
    name: str
    about: str
    can_show_on: str
    """The column of `guard_diff_coverage.sql` that counts the calls on which it would have shown."""


CHANGES = (
    Change("newly-blocked", "the candidate blocks a call that the base runs", "base_executes"),
    Change("fresh-call-blocked", "newly blocked, and the call repeats nothing", "base_executes"),
    Change("trip-gained", "the candidate ends the turn where the base does not", "valid_calls"),
    Change("trip-lost", "the base ends the turn where the candidate does not", "base_trips"),
    Change("released", "the candidate runs a call that the base blocks", "base_blocks"),
    Change("collision-released", "released, and the call is a fresh one under an old id", "base_blocks_collisions"),
    Change("replay-let-through", "released, and the call is a replay", "base_catches_replays"),
    Change("replay-newly-caught", "newly blocked, and the call is a replay", "base_misses_replays"),
    Change("undecided", "one of the two cannot be decided, the other can", "calls"),
)
CHANGE_NAMES = tuple(change.name for change in CHANGES)
ANY = "any"
"""In a gate: whichever change. What it asks shows on every valid call."""

Verdict = Literal["passed", "found", "no-data", "cannot-tell"]


@dataclass(frozen=True)
class GateResult:
    verdict: Verdict
    reasons: tuple[str, ...]


def coverage_percent(coverage: Mapping[str, int]) -> float:
    return 100 * coverage["valid_calls"] / coverage["calls"] if coverage["calls"] else 0.0


def judge_gate(
    kinds: Sequence[str],
    found: Mapping[str, int],
    coverage: Mapping[str, int],
    min_coverage: float,
    doubts: Sequence[str] = (),
) -> GateResult:
    """found: the calls of each change that count against the gate. kinds: names of CHANGES, or ANY of them.

    doubts: what else stands against passing, such as sessions in which a guard failed.
    """
    hits = tuple(f"{found[name]} x {name}" for name in (CHANGE_NAMES if ANY in kinds else kinds) if found.get(name))
    if hits:
        return GateResult("found", hits)
    if not coverage["calls"]:
        return GateResult("no-data", ("there is no call to compare the guards on",))
    all_doubts = [*doubts]
    if (percent := coverage_percent(coverage)) < min_coverage:
        all_doubts.append(f"only {percent:.1f} % of the calls are valid for both guards, less than {min_coverage:g} %")
    asked = [change for change in CHANGES if change.name in kinds]
    all_doubts += [f"no call on which {change.name} could have shown" for change in asked if not coverage[change.can_show_on]]
    if not coverage["valid_calls"]:
        all_doubts.append("no call is valid for both guards")
    return GateResult("cannot-tell", tuple(all_doubts)) if all_doubts else GateResult("passed", ())


def coverage_sentence(coverage: Mapping[str, int]) -> str:
    return (
        f"Valid for {coverage['valid_calls']} of {coverage['calls']} calls ({coverage['counterfactual_calls']} counterfactual, "
        f"{coverage['unknown_calls']} unknown). The guards differ on {coverage['differing_calls']} of them, "
        f"in {coverage['differing_turns']} of {coverage['turns']} turns."
    )


def proof_sentence(coverage: Mapping[str, int], changed: Mapping[str, int]) -> str:
    """Both sides on one line, since either alone is cheap: a guard that blocks everything catches every replay."""
    caught = coverage["base_catches_replays"]
    parts = [
        f"replays still caught {caught - changed.get('replay-let-through', 0)} of {caught}",
        f"collisions released {changed.get('collision-released', 0)} of {coverage['base_blocks_collisions']}",
    ]
    if missed := coverage["base_misses_replays"]:
        parts.append(f"replays newly caught {changed.get('replay-newly-caught', 0)} of {missed}")
    if re_runs := coverage["base_blocks_re_runs"]:
        parts.append(f"re-runs after a change of state released {coverage['re_runs_released']} of {re_runs}")
    if fresh := changed.get("fresh-call-blocked", 0):
        parts.append(f"fresh calls newly blocked {fresh}")
    return "Proof: " + ", ".join(parts) + "."


def calls_of(changes: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """Rows of `guard_diff_changes.sql` as calls by name."""
    return {str(row["change"]): int(row["calls"]) for row in changes}
