from __future__ import annotations

import pytest

from analysis.session_words import coverage_words, duplicates_words, model_told_words, trip_of_card_words, waste_words


def test_coverage() -> None:
    assert coverage_words(14, 37) == "valid for 14 of 37 calls"
    assert coverage_words(0, 1) == "valid for 0 of 1 call"


def test_a_number_of_duplicates_that_nobody_knows_is_not_0() -> None:
    assert duplicates_words(None) == "duplicates within one response: not in this kind of log"
    assert duplicates_words(0) == "duplicates within one response: 0"


@pytest.mark.parametrize(("kept", "words"), [(True, "yes"), (False, "no"), (None, "not known")])
def test_only_of_a_stopped_turn_it_is_said_whether_the_model_was_told(kept: bool | None, words: str) -> None:
    assert model_told_words({"stopped": True, "context_kept": kept}) == words
    assert model_told_words({"stopped": False, "context_kept": kept}) is None


def test_waste_is_what_the_log_tells_of_it() -> None:
    nothing = {"wasted_calls": None, "wasted_seconds": None, "wasted_tokens": None}
    assert waste_words(nothing) is None
    assert waste_words({**nothing, "wasted_calls": 1}) == "wasted: 1 call"
    told = {"wasted_calls": 0, "wasted_seconds": 12.34, "wasted_tokens": 4500}
    assert waste_words(told) == "wasted: 0 calls, 12.3 seconds, 4,500 tokens"


def test_a_card_names_the_trip_that_left_it() -> None:
    assert (
        trip_of_card_words({"trip_guard": "id-breaker", "trip_turn_no": 2, "trip_response_no": 3}) == "trip 2.3 of id-breaker"
    )
    assert trip_of_card_words({"trip_guard": None, "trip_turn_no": None, "trip_response_no": None}) is None
