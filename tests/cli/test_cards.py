"""`cards` on the example of the report and on the recordings."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from cli.main import run
from tests.cli.conftest import Loopscope
from tests.cli.recordings import session_of

EXAMPLE = Path(__file__).parents[2] / "data/cards"
REMEDIES = ["none", "start-once-per-id", "start-once-per-round", "dedup-by-id", "placeholder-ids"]


@pytest.fixture(scope="module")
def reported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    db = tmp_path_factory.mktemp("reported") / "store.duckdb"
    assert run(["ingest", str(EXAMPLE), "--db", str(db)]) == 0
    return db


def test_the_report_in_json(loopscope: Loopscope, reported: Path) -> None:
    stuck, done = loopscope("cards", "--format=json", "--db", reported).json()
    told = ("session_id", "card_id", "state", "result_lines", "is_stuck", "cause")
    assert [stuck[name] for name in told] == ["two-cards-one-id", "t1", "running", 0, True, "same-response"]
    assert [done[name] for name in told] == ["two-cards-one-id", "t1", "completed", 183, False, "same-response"]
    assert (stuck["started"], stuck["finished"]) == ("2026-11-30T18:00:00.310000Z", None)
    assert done["finished"] == "2026-11-30T18:00:00.900000Z"
    assert stuck["fixed_by"] == REMEDIES[1:]
    assert done["fixed_by"] == []


def test_the_other_search_finds_the_other_card(loopscope: Loopscope, reported: Path) -> None:
    rows = loopscope("cards", "--search=forward", "--format=json", "--db", reported).json()
    assert [(row["state"], row["result_lines"]) for row in rows] == [("completed", 183), ("running", 0)]


def test_the_remedies_side_by_side(loopscope: Loopscope, reported: Path) -> None:
    rows = loopscope("cards", "--remedies", "--format=json", "--db", reported).json()
    assert [row["remedy"] for row in rows] == REMEDIES
    assert [(row["cards"], row["waiting"], row["swallowed_calls"], row["run_again"]) for row in rows] == [
        (2, 1, 0, 0),
        (1, 0, 0, 0),
        (1, 0, 0, 0),
        (1, 0, 0, 0),
        (2, 0, 0, 1),
    ]
    assert all(row["about"] for row in rows)
    table = loopscope("cards", "--remedies", "--db", reported).out
    assert [line.split()[2] for line in table.splitlines()[2:]] == REMEDIES
    assert "runs 1 call a second time" in table


def test_the_table_says_why_and_what_would_help(loopscope: Loopscope, reported: Path) -> None:
    answer = loopscope("cards", "--db", reported)
    assert (answer.code, answer.err) == (0, "")
    lines = answer.out.splitlines()
    assert lines[0].split()[1:] == ["card", "1", "t1", "read_file", "running", "0", "lines", "same-response"]
    assert "its result (183 lines) went to another card of its id" in lines[1]
    assert "same-response (certain); 1 of 2 cards of this id" in lines[2]
    assert lines[3].split(maxsplit=3)[3] == ", ".join(REMEDIES[1:])
    assert lines[4].endswith(".../cards/two-cards-one-id.ndjson:7")


def test_csv_has_the_columns_of_the_view(loopscope: Loopscope, reported: Path) -> None:
    (header, *rows) = csv.reader(io.StringIO(loopscope("cards", "--format=csv", "--db", reported).out))
    assert header[:4] == ["session_id", "interface_no", "card_no", "card_id"]
    assert {"started", "finished", "state", "cause", "fixed_by"} <= set(header)
    assert len(rows) == 2


def test_a_session_without_a_turn_is_chosen_by_its_id_and_its_time_alone(loopscope: Loopscope, reported: Path) -> None:
    def count(*filters: str) -> int:
        return len(loopscope("cards", *filters, "--format=json", "--db", reported).json())

    assert count("--session=two-cards") == count("--since=2026-11-30T18:00:00Z") == count("--until=2026-12-01") == 2
    assert loopscope("cards", "--session=other", "--format=json", "--db", reported).code == 3  # no such session
    assert count("--since=2026-12-01") == count("--until=2026-11-29") == 0
    assert count("--model=kimi-k3") == count("--project=demo") == count("--client=desktop") == 0


def test_only_what_is_double_or_stuck_unless_all_is_asked_for(loopscope: Loopscope, recorded: Path) -> None:
    name = "0.21.10/b_true_replay.acp"
    (stuck,) = loopscope("cards", "--session", session_of(name), "--format=json", "--db", recorded).json()
    assert (stuck["card_id"], stuck["state"], stuck["cause"]) == ("call_1__qwen_dup_3", "pending", "breaker")
    assert (stuck["trip_turn_no"], stuck["trip_response_no"]) == (1, 3)
    every = loopscope("cards", "--all", "--session", session_of(name), "--format=json", "--db", recorded).json()
    assert [(card["card_id"], card["state"]) for card in every] == [
        ("call_1", "completed"),
        ("call_1__qwen_dup_2", "failed"),
        ("call_1__qwen_dup_3", "pending"),
    ]


def test_sessions_with_a_stuck_card_come_first(loopscope: Loopscope, recorded: Path) -> None:
    rows = loopscope("cards", "--format=json", "--db", recorded).json()
    with_stuck = {row["session_id"] for row in rows if row["is_stuck"]}
    order = [row["session_id"] in with_stuck for row in rows]
    assert order == sorted(order, reverse=True)
    assert False in order


def test_a_filter_by_turn_chooses_the_cards_of_its_calls(loopscope: Loopscope, recorded: Path) -> None:
    rows = loopscope("cards", "--all", "--version=0.12", "--format=json", "--db", recorded).json()
    assert {row["session_id"] for row in rows} == {session_of("0.12.0/a_same_id_diff_args_underscore.acp")}


def test_an_action_put_to_a_person_again(loopscope: Loopscope, tmp_path: Path) -> None:
    events = []
    for call_id, answer in (("a", "false"), ("b", "true")):
        events.append(f'{{"type":"AiToolCallStarted","id":"{call_id}","name":"shell","args":{{"command":"rm \\u001b[2J"}}}}')
        events.append(f'{{"type":"AiApprovalResult","id":"{call_id}","approved":{answer}}}')
    (tmp_path / "desk.ndjson").write_text("\n".join(events) + "\n")
    db = tmp_path / "store.duckdb"
    assert run(["ingest", str(tmp_path / "desk.ndjson"), "--db", str(db)]) == 0
    (row,) = loopscope("cards", "--repeats", "--format=json", "--db", db).json()
    assert row["reason"].startswith("shell with the same arguments was put to a person 2 times, under the ids a, b")
    table = loopscope("cards", "--repeats", "--db", db).out
    assert "(1 denied, 1 approved)" in table
    assert table.splitlines()[1].endswith("desk.ndjson:2, " + table.splitlines()[1].split(", ")[-1])


def test_ids_of_a_log_are_shown_inert(loopscope: Loopscope, tmp_path: Path) -> None:
    start = '{"type":"AiToolCallStarted","id":"\\u001b[2Jx\\n[red]","name":"\\u202eshell","args":{}}\n'
    (tmp_path / "desk.ndjson").write_text(start * 2)
    db = tmp_path / "store.duckdb"
    assert run(["ingest", str(tmp_path / "desk.ndjson"), "--db", str(db)]) == 0
    table = loopscope("cards", "--db", db).out
    assert "\x1b" not in table
    assert "\u202e" not in table
    assert "\\x1b[2Jx\\n[red]" in table


def test_nothing_to_show_is_said(loopscope: Loopscope, reported: Path) -> None:
    answer = loopscope("cards", "--repeats", "--format=json", "--db", reported)
    assert (answer.code, answer.json()) == (0, [])
    assert "No action was put to a person twice" in answer.err
    answer = loopscope("cards", "--model=other", "--db", reported)
    assert (answer.code, answer.out) == (3, "")
    assert "Nothing passes --model" in answer.err
    assert loopscope("cards", "--remedies", "--repeats", "--db", reported).code == 2


def test_a_session_without_a_log_is_shown_with_what_there_is(loopscope: Loopscope, reported: Path) -> None:
    """The store knows it by its cards, and so does `show`."""
    answer = loopscope("show", "two-cards", "--format=json", "--db", reported)
    (story,) = answer.json()
    assert answer.code == 0
    assert (story["session_id"], story["turns"], story["verdict"]) == ("two-cards-one-id", [], None)
    assert [(card["card_id"], card["state"], card["result_lines"]) for card in story["cards"]] == [
        ("t1", "running", 0),
        ("t1", "completed", 183),
    ]
    assert [row["remedy"] for row in story["card_remedies"]] == REMEDIES
    table = loopscope("show", "two-cards", "--db", reported)
    assert table.code == 0
    assert table.out.startswith(
        "Session two-cards-one-id\nNo log of it was read, only what an interface was told of its calls.\n"
    )
    assert "card 1  t1  running, stuck  same-response" in table.out
    assert "card 2  t1  completed" in table.out
    turn = loopscope("show", "two-cards-one-id:1", "--db", reported)
    assert (turn.code, turn.out) == (3, "")
    assert "has no turn 1" in turn.err
