"""When a gate may pass: a finding always fails it, and it never passes where nothing could have shown."""

from __future__ import annotations

import pytest

from analysis.compare import ANY, CHANGE_NAMES, CHANGES, Change, GateResult, coverage_percent, judge_gate, proof_sentence

COVERAGE = {
    "calls": 200,
    "valid_calls": 150,
    "base_executes": 120,
    "base_blocks": 30,
    "base_trips": 4,
    "base_blocks_collisions": 10,
    "base_catches_replays": 18,
    "base_misses_replays": 2,
    "base_blocks_re_runs": 2,
    "re_runs_released": 1,
}


def test_a_finding_fails_the_gate_however_little_is_covered() -> None:
    poor = {**COVERAGE, "valid_calls": 1}
    result = judge_gate(["newly-blocked", "trip-lost"], {"newly-blocked": 3, "released": 9}, poor, 50, ["a guard failed"])
    assert result == GateResult("found", ("3 x newly-blocked",))


def test_nothing_found_in_what_was_asked_for_passes() -> None:
    assert judge_gate(["newly-blocked"], {"released": 9}, COVERAGE, 75) == GateResult("passed", ())


def test_too_little_coverage_cannot_tell() -> None:
    result = judge_gate(["newly-blocked"], {}, COVERAGE, 75.1)
    assert result.verdict == "cannot-tell"
    assert result.reasons == ("only 75.0 % of the calls are valid for both guards, less than 75.1 %",)


def test_a_failed_guard_cannot_tell() -> None:
    assert judge_gate(["newly-blocked"], {}, COVERAGE, 0, ["a guard failed"]) == GateResult("cannot-tell", ("a guard failed",))


def test_any_takes_every_change_and_needs_one_valid_call() -> None:
    assert judge_gate([ANY], {"released": 1}, COVERAGE, 0) == GateResult("found", ("1 x released",))
    without_replays = {**COVERAGE, "base_catches_replays": 0, "base_misses_replays": 0}
    assert judge_gate([ANY], {}, without_replays, 0).verdict == "passed"
    assert judge_gate([ANY], {}, {**COVERAGE, "valid_calls": 0}, 0).verdict == "cannot-tell"


def test_no_call_is_no_data() -> None:
    nothing = dict.fromkeys(COVERAGE, 0)
    assert judge_gate(["newly-blocked"], {}, nothing, 0).verdict == "no-data"
    assert coverage_percent(nothing) == 0


@pytest.mark.parametrize("change", [change for change in CHANGES if change.can_show_on != "calls"])
def test_a_change_that_could_show_nowhere_cannot_tell(change: Change) -> None:
    """A log without a replay says nothing about whether replays are let through."""
    blind = {**COVERAGE, change.can_show_on: 0}
    result = judge_gate([change.name], {}, blind, 0)
    assert result.verdict == "cannot-tell"
    assert result.reasons[0] == f"no call on which {change.name} could have shown"
    assert judge_gate([change.name], {}, COVERAGE, 0).verdict == "passed"


def test_the_proof_has_both_sides() -> None:
    changed = {"replay-let-through": 3, "collision-released": 9, "replay-newly-caught": 1, "fresh-call-blocked": 5}
    assert proof_sentence(COVERAGE, changed) == (
        "Proof: replays still caught 15 of 18, collisions released 9 of 10, replays newly caught 1 of 2, "
        "re-runs after a change of state released 1 of 2, fresh calls newly blocked 5."
    )
    quiet = {**COVERAGE, "base_misses_replays": 0, "base_blocks_re_runs": 0}
    assert proof_sentence(quiet, {}) == "Proof: replays still caught 18 of 18, collisions released 0 of 10."


def test_each_change_is_named_once() -> None:
    assert len(set(CHANGE_NAMES)) == len(CHANGES)
