"""`show` on recordings whose calls are known, in its three forms."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Loopscope
from tests.cli.recordings import log_of, session_of, truth
from tests.support.card_events import CardLog
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


def test_each_guards_word_reaches_as_far_as_its_observed_part(loopscope: Loopscope, recorded: Path) -> None:
    """Three calls: id-breaker ran, suppressed and tripped as was done; fingerprint leaves what was done at the second."""
    guards = {row["guard"]: row for row in shown(loopscope, recorded, FRESH_KILLED)["guards"]}
    sums = {
        name: (row["valid_calls"], row["calls"], row["execute"], row["suppress"], row["trip"], row["drop"])
        for name, row in guards.items()
    }
    assert sums["id-breaker"] == (3, 3, 1, 1, 1, 0)
    assert sums["fingerprint"] == (2, 3, 2, 0, 0, 0)
    assert sums["id-only"] == (3, 3, 1, 2, 0, 0)
    assert [name for name, row in guards.items() if row["in_force"]] == ["id-breaker"]
    text = loopscope("show", session_of(FRESH_KILLED), "--db", recorded).out
    assert "id-breaker       in force  valid for 3 of 3 calls  execute 1, suppress 1, trip 1, drop 0" in text
    assert "fingerprint                valid for 2 of 3 calls  execute 2, suppress 0, trip 0, drop 0" in text


def test_duplicates_that_the_log_cannot_show_are_no_zero(loopscope: Loopscope, recorded: Path) -> None:
    """A recorded run in which the model did send one id twice in a response: nothing that was kept of it tells."""
    name = "0.24.4/c5_same_response_diff_args_single_chunk"
    assert shown(loopscope, recorded, name)["same_response_duplicates"] is None
    text = loopscope("show", session_of(name), "--db", recorded).out
    assert "duplicates within one response: not in this kind of log" in text


def test_a_stopped_turn_says_whether_the_model_was_told(loopscope: Loopscope, recorded: Path) -> None:
    """Three stopped turns; the requests of the second and third carry the client's note, after the third nothing was sent."""
    text = loopscope("show", session_of("0.24.4/h3_trip_on_three_prompts.acp"), "--db", recorded).out
    assert [line.split()[-1] for line in text.splitlines() if line.strip().startswith("model told")] == ["yes", "yes", "known"]
    assert "model told" not in loopscope("show", session_of("0.24.4/e_normal"), "--db", recorded).out


def test_what_a_loop_cost_is_told_with_it(loopscope: Loopscope, tmp_path: Path) -> None:
    made = session("s")
    made.findings[0].wasted_calls, made.findings[0].wasted_seconds, made.findings[0].wasted_tokens = 4, 12.0, 5000
    text = loopscope("show", "s", "--db", publish(tmp_path / "store.duckdb", made)).out
    assert text.count("wasted: ") == 1
    assert "; wasted: 4 calls, 12.0 seconds, 5,000 tokens; try: " in text


def test_a_card_that_a_trip_left_behind_names_the_trip(loopscope: Loopscope, recorded: Path) -> None:
    story = shown(loopscope, recorded, FRESH_KILLED)
    assert [(card["cause"], card["trip_turn_no"], card["trip_response_no"]) for card in story["cards"] if card["is_stuck"]] == [
        ("breaker", 1, 3)
    ]
    text = loopscope("show", session_of(FRESH_KILLED), "--db", recorded).out
    section = text.split("\nTool cards that are double or stuck\n")[1].splitlines()
    assert section[0].startswith("card 3  ")
    assert "pending, stuck  breaker " in section[0]
    assert section[0].endswith("  trip 1.3 of id-breaker")
    assert section[1].endswith(f"loopscope cards --remedies --session {session_of(FRESH_KILLED)}")


def test_the_other_search_can_be_chosen(loopscope: Loopscope, tmp_path: Path) -> None:
    """One id twice in a response, one result: it goes to the last card of the id, or to the first."""
    made = session("s")
    log = CardLog().round().delta(0, "t1").delta(1, "t1").start("t1", {"n": 1}).start("t1", {"n": 1}).completed("t1", lines=183)
    made.cards, made.card_remedies = log.found().cards, log.found().card_remedies
    db = publish(tmp_path / "store.duckdb", made)

    def lines(*arguments: str) -> list[str]:
        text = loopscope("show", "s", *arguments, "--db", db).out
        return text.split("\nTool cards that are double or stuck\n")[1].splitlines()[:2]

    first, second = lines()
    assert first.startswith("card 1  t1  running, stuck  same-response  ends right under start-once-per-id")
    assert second.startswith("card 2  t1  completed ")
    first, second = lines("--search=forward")
    assert first == "card 1  t1  completed"
    assert second.startswith("card 2  t1  running, stuck  same-response ")
