"""A baseline held against calls of a later day: each difference with the reason that it has."""

from __future__ import annotations

from typing import Any

import pytest

from analysis import baseline as b
from analysis.baseline import BadBaseline, counted, held_against, make_baseline, read_baseline, share_still_there, written

E, S = "execute", "suppress"


def row(session: str, place: str, base: str = E, candidate: str = E, **more: Any) -> dict[str, Any]:
    changes = ["released"] if (base, candidate) == (S, E) else ["newly-blocked"] if (base, candidate) == (E, S) else []
    known = {"record": f"uuid-{session}-{place}/0", "fingerprint": "f00", "class": "replay", "basis": "observed"}
    decisions = {"base_decision": base, "candidate_decision": candidate, "changes": changes}
    return {"session_id": session, "place": place, **decisions, **known, **more}


THEN = [row("one", "1.1.1"), row("one", "1.2.1", S, S), row("two", "1.1.1"), row("two", "2.1.1", S, E)]


def why(*now: dict[str, Any], version: int = 3) -> dict[str, str]:
    return {one.call: one.why for one in held_against(make_baseline(THEN, "x", "y", 3), now, version)}


def test_nothing_moved() -> None:
    assert why(*THEN) == {}


def test_only_what_is_not_plainly_run_is_written_down() -> None:
    baseline = make_baseline(THEN, "x", "y", 3)
    assert baseline.sessions == {"one": 2, "two": 2}
    assert sorted(call.call for call in baseline.calls.values()) == ["one:1.2.1", "two:2.1.1"]


def test_a_guard_that_decides_otherwise() -> None:
    assert why(THEN[0], row("one", "1.2.1", S, E), *THEN[2:]) == {"one:1.2.1": b.GUARD}
    assert why(row("one", "1.1.1", E, S), *THEN[1:]) == {"one:1.1.1": b.GUARD}
    # back to plain is a difference too
    assert why(*THEN[:3], row("two", "2.1.1")) == {"two:2.1.1": b.GUARD}


def test_a_new_log_and_one_that_grew() -> None:
    assert why(*THEN, row("new", "1.1.1", S, E), row("new", "1.2.1")) == {"new:1.1.1": b.NEW_LOG}
    grown = row("two", "3.1.1", E, S)
    assert why(*THEN, grown) == {"two:3.1.1": b.GROWN}
    # more of a turn can show that a decision in it is no fact
    assert why(*THEN[:3], row("two", "2.1.1", S, E, basis="counterfactual"), grown)["two:2.1.1"] == b.GROWN


def test_a_log_and_a_call_that_are_gone() -> None:
    assert why(*THEN[2:]) == {"one:1.2.1": b.GONE}
    assert why(THEN[0], *THEN[2:]) == {"one:1.2.1": b.CALL_GONE}


def test_a_reader_or_an_analysis_of_another_version() -> None:
    read_anew = row("one", "1.2.1", E, E, fingerprint="f01")
    assert why(THEN[0], read_anew, *THEN[2:]) == {"one:1.2.1": b.READ_OTHERWISE}
    assert why(THEN[0], row("one", "1.2.1", S, E), *THEN[2:], version=4) == {"one:1.2.1": b.OTHER_ANALYSIS}
    assert why(THEN[0], row("one", "1.2.1", S, S, basis="counterfactual"), *THEN[2:]) == {"one:1.2.1": b.OTHER_HISTORY}


def test_a_call_is_known_by_its_record_wherever_it_stands_now() -> None:
    moved = row("two", "5.1.1", S, E, record="uuid-two-2.1.1/0")
    assert why(*THEN[:3], moved) == {}
    # where no record has an id, the place has to do
    nameless = [row("old", "1.1.1", S, E, record="")]
    assert held_against(make_baseline(nameless, "x", "y", 3), nameless, 3) == []


def test_what_a_gate_counts() -> None:
    now = [
        *THEN,
        row("new", "1.1.1", S, E),
        row("new", "1.2.1", E, S, basis="counterfactual"),
    ]
    moved = held_against(make_baseline(THEN, "x", "y", 3), now, 3)
    assert counted(moved) == ({"released": 1}, {})
    doubtful = held_against(make_baseline(THEN, "x", "y", 3), [row("one", "1.1.1", E, S), *THEN[1:]], 4)
    assert counted(doubtful) == ({}, {"newly-blocked": 1})


def test_how_much_is_still_there() -> None:
    baseline = make_baseline(THEN, "x", "y", 3)
    assert share_still_there(baseline, held_against(baseline, THEN, 3)) == 100
    assert share_still_there(baseline, held_against(baseline, THEN[2:], 3)) == 50
    assert share_still_there(make_baseline([], "x", "y", 3), []) == 100


def test_what_is_written_is_read_again_and_its_order_is_its_contents() -> None:
    baseline = make_baseline(THEN, "x", "y", 3)
    text = written(baseline)
    assert read_baseline(text) == baseline
    assert written(make_baseline([*THEN[2:], *THEN[:2]], "x", "y", 3)) == text
    assert [line.count(b'"call":') for line in text.splitlines() if b'"call":' in line] == [1, 1]


@pytest.mark.parametrize(("text", "message"), [(b"[]", "it is no baseline"), (b"\xff", "it is no baseline")])
def test_a_file_that_is_none(text: bytes, message: str) -> None:
    with pytest.raises(BadBaseline, match=message):
        read_baseline(text)
    other = written(make_baseline(THEN, "x", "y", 3)).replace(b'"format_version": 1', b'"format_version": 2')
    with pytest.raises(BadBaseline, match="version 2"):
        read_baseline(other)
