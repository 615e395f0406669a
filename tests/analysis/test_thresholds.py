"""The table of thresholds: the defaults that issue 5 names, and that another value changes what is found."""

from __future__ import annotations

import msgspec
import pytest
from msgspec.structs import asdict, replace

from analysis.analyse import analyse
from analysis.thresholds import DEFAULT_THRESHOLDS, Thresholds
from tests.analysis.detectors.shapes import in_turn, status


def test_the_defaults() -> None:
    assert asdict(DEFAULT_THRESHOLDS) == {
        "replays": 3,
        "collision_repeats": 3,
        "identical_in_a_row": 5,
        "batch_rounds": 3,
        "cycle_period": 6,
        "cycle_rounds": 3,
        "cycle_calls": 6,
        "spread_in_turn": 10,
        "spread_in_session": 20,
        "spread_turns": 3,
        "dead_end_responses": 20,
        "dead_end_share": 0.75,
        "dead_end_in_a_row": 10,
        "invalid_parameters": 3,
        "empty_replies": 5,
    }


def test_each_is_described() -> None:
    properties = msgspec.json.schema(Thresholds)["$defs"]["Thresholds"]["properties"]
    assert set(properties) == set(asdict(DEFAULT_THRESHOLDS))
    assert all(told["description"].endswith(".") for told in properties.values())


def test_another_value_is_another_finding() -> None:
    facts = in_turn(*[status()] * 4).facts()
    assert analyse(facts).findings == []
    (row,) = analyse(facts, replace(DEFAULT_THRESHOLDS, identical_in_a_row=4)).findings
    assert row.kind == "identical-in-a-row"


@pytest.mark.parametrize(
    "told", [{"identical_in_a_row": 1}, {"identical_in_a_row": "5"}, {"dead_end_share": 1.5}, {"identical": 5}]
)
def test_a_value_that_makes_no_sense_is_refused(told: dict[str, object]) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(told, Thresholds)


def test_findings_of_other_thresholds_are_stale() -> None:
    assert DEFAULT_THRESHOLDS.stamp() == Thresholds().stamp()
    assert DEFAULT_THRESHOLDS.stamp() != Thresholds(replays=4).stamp()
