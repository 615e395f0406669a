"""`guard diff` on real recordings, worked out by hand: from what the client did (data/expected.json) and each guard's rule.

A pair's number counts its calls up to and including the first response on which either guard decides otherwise than was done;
behind that nothing is a fact any more.
"""

from __future__ import annotations

from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from analysis import queries
from analysis.reading import Filters, open_store
from tests.cli.conftest import Loopscope
from tests.cli.recordings import session_of

E, S, T, D = "execute", "suppress", "trip", "drop"
UNSPLIT = {"by_model": False, "by_version": False, "by_entry_point": False}

OBSERVED: dict[str, dict[tuple[str, str], int]] = {
    # No guard in force, five commands under one id, all run: the breaker would have answered the second.
    "0.12.0/a_same_id_diff_args_underscore.acp": {(E, E): 1, (S, E): 1},
    # No guard in force, one call four times: both answer the second.
    "0.15.10/b_true_replay": {(E, E): 1, (S, S): 1},
    # call_2 was cut off by a kill and counts as handled at the next prompt; its id comes back with another command. The replay
    # of call_1 behind it is no fact any more.
    "0.15.10/h8_continue_after_kill": {(E, E): 2, (S, E): 1},
    # The breaker in force answered the second command; the fingerprint guard would have run it.
    "0.21.10/a_same_id_diff_args_underscore.acp": {(E, E): 1, (S, E): 1},
    # A replay beside a fresh call, twice: answered beside one that runs, then the whole batch is dropped.
    "0.21.10/f_replay_plus_fresh.acp": {(E, E): 2, (S, S): 1, (T, T): 1, (D, D): 1},
    # Two replays in a batch, then one of them again.
    "0.21.10/f3_two_replays_in_batch.acp": {(E, E): 2, (S, S): 2, (T, T): 1},
    # One id with another command at each of three prompts: each turn begins again from what happened.
    "0.21.10/h2_two_prompts_same_id_diff_args.acp": {(E, E): 1, (S, E): 2},
    # The same with two or three commands a prompt, the last of which the breaker dropped.
    "0.21.10/h4_kimi_three_prompts.acp": {(E, E): 1, (S, E): 3},
    # Compression set the id free between the prompts.
    "0.21.10/h6_compress_between": {(E, E): 2},
    # The same command with a description added, and with a space: other calls.
    "0.21.10/k5_optional_default_added": {(E, E): 1, (S, E): 1},
    # A, B, A, A: the guard in force ran B, so behind B the breaker's decisions are no facts.
    "0.24.4/a2_diff_args_then_replay_first": {(E, E): 1, (S, E): 1},
    # A, then nine times B.
    "0.24.4/a4_replay_second_many.acp": {(E, E): 1, (S, E): 1},
    # No ids: nothing to compare.
    "0.24.4/d2_missing_ids_same_args": {(E, E): 3},
    # As in 0.21.10, the dropped batch told by the daemon's skip text.
    "0.24.4/f_replay_plus_fresh.acp": {(E, E): 2, (S, S): 1, (T, T): 1, (D, D): 1},
    # Three prompts, each ended by the breaker.
    "0.24.4/h3_trip_on_three_prompts.acp": {(E, E): 1, (S, S): 3, (T, T): 3},
}


def _pairs(rows: list[dict[str, Any]]) -> Counter[tuple[str, str]]:
    counted: Counter[tuple[str, str]] = Counter()
    for row in rows:
        if row["basis"] == "observed":
            counted[row["base_decision"], row["candidate_decision"]] += row["calls"]
    return counted


@pytest.mark.parametrize("name", OBSERVED)
def test_the_observed_pairs_are_those_worked_out_by_hand(name: str, loopscope: Loopscope, recorded: Path) -> None:
    arguments = ("guard", "diff", "id-breaker", "fingerprint", "--session", session_of(name), "--format=json")
    rows = [row for row in loopscope(*arguments, "--db", recorded).json() if row["section"] == "pair"]
    assert _pairs(rows) == OBSERVED[name]
    assert {row["format_version"] for row in rows} == {1}


@pytest.mark.parametrize(("base", "candidate"), [("id-breaker", "fingerprint"), ("in-force", "any-fingerprint")])
def test_the_whole_is_the_sum_of_its_sessions(base: str, candidate: str, recorded: Path) -> None:
    def rows(filters: Filters) -> list[dict[str, Any]]:
        with closing(open_store(recorded, filters)) as con:
            return queries.run(con, "guard_diff", base=base, candidate=candidate, **UNSPLIT).dicts()

    def keyed(rows: list[dict[str, Any]]) -> Counter[tuple[Any, ...]]:
        names = ("basis", "base_decision", "candidate_decision", "class")
        return Counter({tuple(row[name] for name in names): row["calls"] for row in rows})

    with closing(open_store(recorded)) as con:
        sessions = [row[0] for row in con.execute("SELECT session_id FROM sessions WHERE kind = 'main'").fetchall()]
    total: Counter[tuple[Any, ...]] = Counter()
    for session_id in sessions:
        total += keyed(rows(Filters(sessions=(session_id,))))
    assert keyed(rows(Filters())) == total


def test_any_fingerprint_shows_the_hole_of_the_shipped_guard(loopscope: Loopscope, recorded: Path) -> None:
    """Recording a4: A, then B nine times. The shipped guard compares with A alone."""
    answer = loopscope("guard", "diff", "fingerprint", "any-fingerprint", "--format=json", "--db", recorded)
    changes = {row["change"]: row["calls"] for row in answer.json() if row["section"] == "change"}
    assert changes == {"newly-blocked": 1, "replay-newly-caught": 1}
    (example,) = [row for row in answer.json() if row["section"] == "example"]
    assert example["call"] == f"{session_of('0.24.4/a4_replay_second_many.acp')}:1.3.1"
    assert (example["class"], example["base_decision"], example["candidate_decision"]) == (
        "later-replay",
        "execute",
        "suppress",
    )
    assert '"echo B"' in example["args_json"]
    assert '"echo A"' in example["earlier_args_json"]
    assert "replays newly caught 1 of 1" in answer.err


def test_the_guard_in_force_decides_what_was_done(loopscope: Loopscope, recorded: Path) -> None:
    """0.21.10 ran under id-breaker: there `in-force` and `id-breaker` are one."""
    arguments = ("guard", "diff", "in-force", "id-breaker", "--version=0.21.10", "--format=json", "--db", recorded)
    rows = [row for row in loopscope(*arguments).json() if row["section"] == "pair"]
    assert rows
    assert all(row["same"] and row["basis"] == "observed" for row in rows)


@pytest.mark.parametrize("guard", ["none", "id-only", "id-breaker", "fingerprint", "any-fingerprint", "args-dedup"])
def test_the_pairs_are_those_of_the_view_of_decisions(guard: str, recorded: Path) -> None:
    """Two ways to the same answer: the comparison's, which is quick, and the public view."""
    with closing(open_store(recorded)) as con:
        pairs = queries.run(con, "guard_diff_calls", base=guard, candidate=guard).dicts()
        place = "turn_no || '.' || response_no || '.' || call_no"
        told = con.execute(f"SELECT session_id, {place}, decision, basis FROM decisions WHERE guard = ?", [guard]).fetchall()
        (calls,) = con.execute("SELECT count(*) FROM calls WHERE echo_of IS NULL").fetchone() or (0,)
    reached = [row for row in pairs if row["base_decision"] != "not-reached"]
    assert sorted((row["session_id"], row["place"], row["base_decision"], row["basis"]) for row in reached) == sorted(told)
    assert len(pairs) == calls
