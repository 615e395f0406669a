from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.cli.conftest import Answer, Loopscope
from tests.cli.recordings import session_of

GUARDS = {"none", "id-only", "id-breaker", "fingerprint", "any-fingerprint", "args-dedup"}


def test_the_guards_are_listed_with_what_they_did(loopscope: Loopscope, recorded: Path) -> None:
    rows = {row["guard"]: row for row in loopscope("guard", "list", "--format=json", "--db", recorded).json()}
    assert set(rows) == GUARDS
    assert all(row["about"] and row["source"] == "built-in" for row in rows.values())
    assert rows["none"]["observed_trips"] == rows["id-only"]["observed_trips"] == 0
    # The fingerprint guard is the one that lets collisions run.
    assert rows["fingerprint"]["observed_trips_on_fresh_calls"] == 0 < rows["id-breaker"]["observed_trips_on_fresh_calls"]
    table = loopscope("guard", "list", "--db", recorded).out
    assert all(guard in table for guard in GUARDS)


def test_the_trips_of_a_guard_stand_beside_the_calls_that_they_are_counted_over(loopscope: Loopscope, recorded: Path) -> None:
    rows = loopscope("guard", "list", "--format=json", "--db", recorded).json()
    query = "SELECT guard, count(*) AS n FROM decisions WHERE basis = 'observed' AND decision <> 'unknown' GROUP BY guard"
    counted = {row["guard"]: row["n"] for row in loopscope("sql", query, "--format=json", "--db", recorded).json()}
    assert {row["guard"]: row["valid_calls"] for row in rows} == counted
    assert counted["none"] < {row["calls"] for row in rows}.pop()


def pairs(answer: Answer) -> list[dict[str, Any]]:
    return [row for row in answer.json() if row["section"] == "pair"]


def test_a_comparison_on_one_session_is_its_arithmetic(loopscope: Loopscope, recorded: Path) -> None:
    """executed, suppressed, tripped by id-breaker: fingerprint agrees, then lets it run, and then knows only what if."""
    session_id = session_of("0.21.10/a_same_id_diff_args_underscore.acp")
    arguments = ("guard", "diff", "id-breaker", "fingerprint", "--session", session_id, "--db", recorded)
    answer = loopscope(*arguments, "--format=json")
    told = [
        (row["basis"], row["base_decision"], row["candidate_decision"], row["class"], row["model"], row["calls"], row["turns"])
        for row in pairs(answer)
    ]
    assert told == [
        ("observed", "suppress", "execute", "collision", "kimi-k3", 1, 1),
        ("observed", "execute", "execute", "first-use", "kimi-k3", 1, 1),
        ("counterfactual", "trip", "execute", "collision", "kimi-k3", 1, 1),
    ]
    coverage = "Valid for 2 of 3 calls (1 counterfactual, 0 unknown). The guards differ on 1 of them, in 1 of 1 turns."
    proof = "Proof: replays still caught 0 of 0, collisions released 1 of 1."
    assert answer.err.splitlines() == [coverage, proof]
    table = loopscope(*arguments)
    assert table.out.endswith(f"{coverage}\n{proof}\n")
    assert table.err == ""


def test_every_call_is_counted_once_and_facts_apart(loopscope: Loopscope, recorded: Path) -> None:
    for base, candidate in (
        ("id-breaker", "fingerprint"),
        ("none", "any-fingerprint"),
        ("id-only", "id-only"),
        ("in-force", "none"),
    ):
        rows = pairs(loopscope("guard", "diff", base, candidate, "--format=json", "--db", recorded))
        query = "SELECT count(*) AS calls FROM calls WHERE echo_of IS NULL"
        ((total,),) = [row.values() for row in loopscope("sql", query, "--format=json", "--db", recorded).json()]
        assert sum(row["calls"] for row in rows) == total > 0
        if base == candidate:
            assert all(row["same"] for row in rows)


def test_an_unknown_guard_lists_the_known(loopscope: Loopscope, recorded: Path) -> None:
    for base, candidate in (("nonsense", "fingerprint"), ("fingerprint", "nonsense")):
        answer = loopscope("guard", "diff", base, candidate, "--db", recorded)
        assert (answer.code, answer.out) == (2, "")
        assert "There is no guard 'nonsense'" in answer.err
        assert all(guard in answer.err for guard in GUARDS)


def test_nothing_to_compare(loopscope: Loopscope, recorded: Path) -> None:
    answer = loopscope("guard", "diff", "none", "fingerprint", "--model=other", "--format=json", "--db", recorded)
    assert (answer.code, answer.json()) == (3, [])
    assert "Nothing passes --model" in answer.err
    listed = loopscope("guard", "list", "--model=other", "--format=json", "--db", recorded)
    assert (listed.code, {row["calls"] for row in listed.json()}) == (3, {0})
    assert "Nothing passes --model" in listed.err
