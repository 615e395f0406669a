"""Runs of the real client that `make e2e` made and kept: every decision of the guard in force is what really happened."""

from __future__ import annotations

from pathlib import Path

from tests.e2e.agreement import Agreement, unexpected
from tests.e2e.recording import kept_runs
from tests.e2e.scenario import FOLDER, load, load_all
from tests.support.ingested import ingest_into

RECORDED = Path(__file__).with_name("recorded")


def test_what_the_store_says_of_the_kept_runs_is_what_happened(tmp_path: Path) -> None:
    runs = list(kept_runs(RECORDED))
    with ingest_into(tmp_path / "store.duckdb", RECORDED) as store:
        agreement = Agreement(store)
        for truth, home in runs:
            agreement.compare(truth, home)
    assert agreement.disagreements == []
    assert agreement.compared["runs"] == len(runs) == len(list(RECORDED.glob("*/*")))
    told = [calls for truth, _ in runs for turn in truth.turns for calls in (*turn.responses, *turn.sub_agent)]
    # The call on which a sub-agent was stopped is in no log.
    assert agreement.compared["calls"] == sum(map(len, told)) - agreement.compared["sub-agents"] >= 30


def test_the_kept_runs_are_what_their_scenarios_expect() -> None:
    for truth, _ in kept_runs(RECORDED):
        assert list(unexpected(load(FOLDER / f"{truth.scenario}.toml"), truth)) == []


def test_each_scenario_can_be_read_and_expects_something_of_each_guard() -> None:
    scenarios = load_all()
    assert len(scenarios) >= 14
    for scenario in scenarios:
        assert {expected.guard for expected in scenario.expect} == {"none", "id-breaker", "fingerprint"}
