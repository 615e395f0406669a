"""`show` on recordings whose calls are known, in its three forms."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Loopscope
from tests.cli.recordings import log_of, session_of, truth
from tests.support.found_rows import publish, session

FRESH_KILLED = "0.21.10/a_same_id_diff_args_underscore.acp"


def shown(loopscope: Loopscope, db: Path, name: str) -> dict[str, Any]:
    (story,) = loopscope("show", session_of(name), "--format=json", "--db", db).json()
    return dict(story)


def test_json_nests_turns_responses_calls_and_decisions(loopscope: Loopscope, recorded: Path) -> None:
    story = shown(loopscope, recorded, FRESH_KILLED)
    assert story["session_id"] == session_of(FRESH_KILLED)
    assert (story["verdict"], story["guard_in_force"], story["entry_point"]) == ("silent-hang", "id-breaker", "acp")
    assert (story["turn_count"], story["calls"], story["collisions"], story["trips"]) == (1, 3, 2, 1)
    (turn,) = story["turns"]
    calls = [call for response in turn["responses"] for call in response["calls"]]
    assert [call["outcome"] for call in calls] == ["executed", "suppressed", "dropped"]
    assert [call["class"] for call in calls] == ["first-use", "collision", "collision"]
    decided = [{d["guard"]: (d["decision"], d["basis"], d["diverges"]) for d in call["decisions"]} for call in calls]
    assert [told["id-breaker"] for told in decided] == [
        ("execute", "observed", False),
        ("suppress", "observed", False),
        ("trip", "observed", False),
    ]
    assert [told["fingerprint"] for told in decided] == [
        ("execute", "observed", False),
        ("execute", "observed", True),
        ("execute", "counterfactual", False),
    ]
    assert [call["provider_id"] for call in calls] == ["run_shell_command_0"] * 3
    assert calls[1]["collides_with"]["first_args_json"] == calls[0]["args_json"]
    assert [(trip["guard"], trip["told_user"]) for trip in turn["trips"] if trip["in_force"]] == [("id-breaker", False)]
    assert {finding["kind"] for finding in story["findings"]} == {"silent-hang", "fresh-calls-blocked"}


@pytest.mark.parametrize("name", ["0.24.4/h3_trip_on_three_prompts.acp", "0.21.10/h4_kimi_three_prompts.acp"])
def test_each_turn_holds_its_own_calls(name: str, loopscope: Loopscope, recorded: Path) -> None:
    words = {"ok": "executed", "dup": "suppressed", "open": "dropped", "skip": "skipped"}
    turns = shown(loopscope, recorded, name)["turns"]
    told = [
        [[call["outcome"] for call in response["calls"]] for response in turn["responses"] if response["calls"]]
        for turn in turns
    ]
    expected = [[[words[call] for call in batch] for batch in turn["responses"]] for turn in truth()[name]["turns"]]
    assert len(told) == 3
    assert all(turn[: len(seen)] == seen for turn, seen in zip(expected, told, strict=True))


def test_the_table_marks_divergence_and_counterfactual(loopscope: Loopscope, recorded: Path) -> None:
    answer = loopscope("show", session_of(FRESH_KILLED), "--db", recorded)
    assert answer.code == 0
    assert answer.err == ""
    text = answer.out
    assert text.startswith(f"Session {session_of(FRESH_KILLED)}  main\n")
    assert f"log      {log_of(FRESH_KILLED)}" in text
    assert "first divergence of any-fingerprint, args-dedup, fingerprint, none here" in text
    assert "execute*: any-fingerprint, args-dedup, fingerprint, none; suppress: id-only; trip: id-breaker" in text
    assert "\n* counterfactual:" in text
    assert "trip of id-breaker (in force, replayed) at response 3" in text
    assert "the user was not told" in text
    # The arguments of the two calls of one id, one under the other.
    first, here = text.split("\n2.1  ")[1].splitlines()[3:5]
    assert first.strip().startswith('first   {"command":"echo round-0"')
    assert here.strip().startswith('args    {"command":"echo round-1"')


def test_csv_is_the_calls(loopscope: Loopscope, recorded: Path) -> None:
    answer = loopscope("show", session_of(FRESH_KILLED), "--format=csv", "--db", recorded)
    rows = list(csv.DictReader(io.StringIO(answer.out)))
    assert [row["outcome"] for row in rows] == ["executed", "suppressed", "dropped"]
    assert '"fingerprint=execute*"' in rows[2]["decisions"]


def test_a_sub_agent_and_its_parent_name_each_other(loopscope: Loopscope, recorded: Path) -> None:
    parent = session_of("0.24.4/l_subagent_replay.acp")
    story = shown(loopscope, recorded, "0.24.4/l_subagent_replay.acp")
    ((relation, child),) = [(row["relation"], row["session_id"]) for row in story["relatives"]]
    assert relation == "sub-agent"
    assert child.startswith(f"{parent}/agent-")
    (of_child,) = loopscope("show", f"{parent[:8]}/agent", "--format=json", "--db", recorded).json()
    assert (of_child["session_id"], of_child["kind"]) == (child, "sub-agent")
    assert [(row["relation"], row["session_id"]) for row in of_child["relatives"]] == [("parent", parent)]
    # A prefix of both means the parent.
    (of_prefix,) = loopscope("show", parent[:8], "--format=json", "--db", recorded).json()
    assert of_prefix["session_id"] == parent


def test_an_unknown_session(loopscope: Loopscope, recorded: Path) -> None:
    for text in ("nothing-like-it", "' OR 1=1 --", "\x1b[31m"):
        answer = loopscope("show", text, "--db", recorded)
        assert (answer.code, answer.out) == (3, "")
        assert "No session begins with" in answer.err
        assert "\x1b" not in answer.err


def test_an_ambiguous_prefix_lists_what_it_can_mean(loopscope: Loopscope, tmp_path: Path) -> None:
    db = publish(tmp_path / "store.duckdb", session("abcd"), session("abce"), session("b"))
    answer = loopscope("show", "abc", "--db", db)
    assert (answer.code, answer.out) == (2, "")
    assert "\n  abcd\n  abce" in answer.err
    assert "\n  b\n" not in answer.err


def test_filters_that_hide_the_session_are_named(loopscope: Loopscope, recorded: Path) -> None:
    answer = loopscope("show", session_of(FRESH_KILLED), "--model=other", "--format=json", "--db", recorded)
    assert (answer.code, answer.json()) == (3, [])
    assert "Nothing passes --model" in answer.err


def test_filters_leave_a_part_of_the_session(loopscope: Loopscope, tmp_path: Path) -> None:
    db = publish(tmp_path / "store.duckdb", session("s", models=("kimi-k3", "glm")))
    (story,) = loopscope("show", "s", "--model=glm", "--format=json", "--db", db).json()
    assert [turn["turn_no"] for turn in story["turns"]] == [2]
    assert story["turn_count"] == 1
