"""Cards over the recorded wire logs: the states that the log tells last, and the old daemon's stuck cards with their trips."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.conformance.conftest import DATA, Recordings
from tests.conformance.truth import read_truth

WIRE_LOGS = sorted(DATA.glob("recordings/*/*/acp.jsonl"))
TRUTH = {truth.name: truth for truth in read_truth(DATA / "expected.json")}
STREAMS = sorted(DATA.glob("recordings/*/*/events.sse"))


def _name(path: Path) -> str:
    return "/".join(path.parts[-3:-1])


def _updates(path: Path) -> list[dict[str, Any]]:
    if path.suffix == ".sse":
        messages = [json.loads(line[6:]).get("data", {}) for line in path.read_text().splitlines() if line.startswith("data: ")]
    else:
        messages = [json.loads(line)["msg"].get("params", {}) for line in path.read_text().splitlines()]
    updates = [message["update"] for message in messages if "update" in message]
    return [update for update in updates if update["sessionUpdate"].startswith("tool_call")]


def test_there_are_wire_logs_of_every_kind() -> None:
    assert {_name(path).split("/")[0] for path in WIRE_LOGS} == {"0.12.0", "0.21.10", "0.24.4"}
    assert len(WIRE_LOGS) + len(STREAMS) == 9


@pytest.mark.parametrize("path", [*WIRE_LOGS, *STREAMS], ids=_name)
def test_each_card_ends_in_the_state_that_was_told_last(path: Path, recordings: Recordings) -> None:
    last = {update["toolCallId"]: update["status"] for update in _updates(path) if "status" in update}
    starts = [update["toolCallId"] for update in _updates(path) if update["sessionUpdate"] == "tool_call"]
    rows = recordings.store.execute(
        "SELECT card_id, state, source_path FROM cards WHERE session_id = ? ORDER BY card_no",
        [recordings.session_id(_name(path))],
    ).fetchall()
    assert {source for _, _, source in rows} == {str(path)}
    assert [card_id for card_id, _, _ in rows] == starts
    assert {card_id: state for card_id, state, _ in rows} == last
    assert all(state == last[card_id] for card_id, state, _ in rows)


@pytest.mark.parametrize("path", [*WIRE_LOGS, *STREAMS], ids=_name)
def test_stuck_are_the_calls_that_the_old_daemon_left_open(path: Path, recordings: Recordings) -> None:
    """Each is linked to the turn and the response of its trip; nothing else is stuck."""
    truth = TRUTH[_name(path)]
    open_calls = [
        (turn_no, response_no, call_no)
        for turn_no, turn in enumerate(truth.turns, 1)
        for response_no, batch in enumerate(turn.batches, 1)
        for call_no, outcome in enumerate(batch, 1)
        if outcome == "open"
    ]
    stuck = recordings.store.execute(
        "SELECT turn_no, response_no, call_no, cause, trip_guard, trip_turn_no, trip_response_no FROM cards "
        "WHERE session_id = ? AND is_stuck ORDER BY card_no",
        [recordings.session_id(_name(path))],
    ).fetchall()
    assert stuck == [(*at, "breaker", "id-breaker", *at[:2]) for at in open_calls]
    assert bool(open_calls) == (_name(path) in SILENT)


SILENT = {
    "0.21.10/a_same_id_diff_args_underscore.acp",
    "0.21.10/b_true_replay.acp",
    "0.21.10/f_replay_plus_fresh.acp",
    "0.21.10/h3_trip_on_three_prompts.acp",
}


def test_an_id_that_each_response_used_again_was_always_known_for_it(recordings: Recordings) -> None:
    """0.12.0 had no guard and no suffixes: five cards of one id, each of a response of its own, and all of them right."""
    session_id = recordings.session_id("0.12.0/a_same_id_diff_args_underscore.acp")
    rows = recordings.store.execute(
        "SELECT card_id, cause, cause_confidence, round_no, response_no, ends_right FROM cards "
        "WHERE session_id = ? ORDER BY card_no",
        [session_id],
    ).fetchall()
    first = ("run_shell_command_0", None, None, 1, 1, True)
    assert rows == [first, *(("run_shell_command_0", "cross-round", "certain", no, no, True) for no in range(2, 6))]
    lost = recordings.store.execute(
        "SELECT remedy, swallowed_calls FROM card_remedies WHERE session_id = ? AND search = 'reverse' AND swallowed_calls > 0",
        [session_id],
    ).fetchall()
    assert sorted(lost) == [("dedup-by-id", 4), ("start-once-per-id", 4)]


def test_cards_add_no_calls_and_no_findings(recordings: Recordings) -> None:
    ((told,),) = recordings.store.execute("SELECT count(*) FROM cards WHERE turn_no IS NOT NULL").fetchall()
    ((linked,),) = recordings.store.execute(
        "SELECT count(*) FROM cards c JOIN calls USING (session_id, turn_no, response_no, call_no) WHERE calls.tool = c.tool"
    ).fetchall()
    assert told == linked > 30
    kinds = recordings.store.execute("SELECT DISTINCT kind FROM findings").fetchall()
    assert ("stuck-card",) not in kinds
