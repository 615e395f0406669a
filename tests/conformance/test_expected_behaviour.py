"""The rows of the guard's table of expected behaviour, each on what the real client wrote.

Where the client never writes the case down (it drops a same-response duplicate before its log; no recording has a cron turn)
the session is put together from records, after what its code does.
"""

from __future__ import annotations

from typing import Any

import duckdb
import pytest

from tests.conformance.conftest import Recordings
from tests.support.memory_store import store_of
from tests.support.session_log import SessionLog, call

Rows = list[tuple[Any, ...]]

CALLS = """
    SELECT c.turn_no, c.response_no, c.class, c.outcome, d.decision
    FROM calls c JOIN decisions d USING (session_id, turn_no, response_no, call_no)
    WHERE d.guard = $guard AND c.session_id = $session_id ORDER BY c.turn_no, c.response_no, c.call_no
"""


def _calls(store: duckdb.DuckDBPyConnection, session_id: str, guard: str) -> Rows:
    """(turn, response, class, outcome, the guard's decision)"""
    return store.execute(CALLS, {"session_id": session_id, "guard": guard}).fetchall()


def _trips(store: duckdb.DuckDBPyConnection, session_id: str, guard: str) -> Rows:
    """(turn, response, class of the call that fired, basis, whether the user was told)"""
    return store.execute(
        "SELECT turn_no, response_no, trip_class, basis, told_user FROM trips WHERE session_id = ? AND guard = ?"
        " ORDER BY turn_no",
        [session_id, guard],
    ).fetchall()


def _verdicts(store: duckdb.DuckDBPyConnection, session_id: str) -> Rows:
    return store.execute("SELECT verdict FROM turns WHERE session_id = ? ORDER BY turn_no", [session_id]).fetchall()


NEW_GUARD = ["0.24.4/b_true_replay", "0.24.4/b_true_replay.acp", "0.24.4/b_true_replay.serve", "0.24.4/b_true_replay.tui"]


@pytest.mark.parametrize("name", [*NEW_GUARD, "0.24.4/k_key_order"])
def test_same_id_and_arguments_a_second_time_is_answered_and_not_executed(recordings: Recordings, name: str) -> None:
    first, second = _calls(recordings.store, recordings.session_id(name), "fingerprint")[:2]
    assert first == (1, 1, "first-use", "executed", "execute")
    assert second == (1, 2, "replay", "suppressed", "suppress")


@pytest.mark.parametrize(("name", "outcome"), list(zip(NEW_GUARD, ["dropped", "skipped", "skipped", "dropped"], strict=True)))
def test_a_third_time_the_batch_is_dropped_and_the_stop_is_visible(recordings: Recordings, name: str, outcome: str) -> None:
    session_id = recordings.session_id(name)
    third = _calls(recordings.store, session_id, "fingerprint")[2:]
    assert third == [(1, 3, "replay", outcome, "trip")]
    assert _trips(recordings.store, session_id, "fingerprint") == [(1, 3, "replay", "observed", True)]
    assert _verdicts(recordings.store, session_id) == [("stopped-visibly",)]


def test_the_fresh_sibling_of_a_third_replay_is_dropped_with_it(recordings: Recordings) -> None:
    calls = _calls(recordings.store, recordings.session_id("0.24.4/f_replay_plus_fresh.acp"), "fingerprint")
    assert calls[1:3] == [(1, 2, "replay", "suppressed", "suppress"), (1, 2, "first-use", "executed", "execute")]
    assert calls[3:] == [(1, 3, "replay", "skipped", "trip"), (1, 3, "first-use", "skipped", "drop")]


@pytest.mark.parametrize(("variant", "told", "verdict"), [(".acp", False, "silent-hang"), ("", True, "stopped-visibly")])
def test_the_old_daemon_stops_in_silence_and_the_old_headless_client_does_not(
    recordings: Recordings, variant: str, told: bool, verdict: str
) -> None:
    session_id = recordings.session_id(f"0.21.10/h3_trip_on_three_prompts{variant}")
    trips = [(turn, response, "replay", "observed", told) for turn, response in ((1, 3), (2, 2), (3, 2))]
    assert _trips(recordings.store, session_id, "id-breaker") == trips
    assert _verdicts(recordings.store, session_id) == [(verdict,)] * 3


@pytest.mark.parametrize("variant", [".acp", ".tui"])
def test_same_id_with_other_arguments_executes_under_a_suffixed_id(recordings: Recordings, variant: str) -> None:
    session_id = recordings.session_id(f"0.24.4/a_same_id_diff_args_underscore{variant}")
    calls = _calls(recordings.store, session_id, "fingerprint")
    assert calls[0] == (1, 1, "first-use", "executed", "execute")
    assert calls[1:] == [(1, response_no, "collision", "executed", "execute") for response_no in (2, 3, 4, 5)]
    assert _trips(recordings.store, session_id, "fingerprint") == []
    assert _verdicts(recordings.store, session_id) == [("completed",)]
    ids = recordings.store.execute(
        "SELECT recorded_id, provider_id, id_source FROM calls WHERE session_id = ? ORDER BY response_no", [session_id]
    ).fetchall()
    raw = "run_shell_command_0"
    assert ids == [(raw, raw, "recorded")] + [(f"{raw}__qwen_dup_{n}", raw, "recovered") for n in (2, 3, 4, 5)]


def test_the_id_breaker_would_have_killed_the_same_fresh_calls(recordings: Recordings) -> None:
    session_id = recordings.session_id("0.24.4/a_same_id_diff_args_underscore.acp")
    decisions = [row[4] for row in _calls(recordings.store, session_id, "id-breaker")]
    assert decisions == ["execute", "suppress", "trip"]
    assert _trips(recordings.store, session_id, "id-breaker") == [(1, 3, "collision", "counterfactual", None)]


def test_of_one_raw_id_twice_in_a_response_only_the_first_reaches_the_log(recordings: Recordings) -> None:
    session_id = recordings.session_id("0.24.4/c5_same_response_diff_args_single_chunk")
    assert _calls(recordings.store, session_id, "fingerprint") == [(1, 1, "first-use", "executed", "execute")]


@pytest.mark.parametrize("second_args", [{"command": "a"}, {"command": "b"}])
def test_the_second_of_one_raw_id_in_a_response_is_dropped_whatever_its_arguments(second_args: dict[str, Any]) -> None:
    log = SessionLog().prompt().response(call("x", {"command": "a"}), call("x", second_args, part=1)).answer("x")
    store = store_of([log.response(text=True).facts()])
    expected = [(1, 1, "first-use", "executed", "execute"), (1, 1, "same-response", "dropped", "drop")]
    for guard in ("id-breaker", "fingerprint", "any-fingerprint"):
        assert _calls(store, "s", guard) == expected
        assert _trips(store, "s", guard) == []
    assert _verdicts(store, "s") == [("completed",)]


def test_without_a_collision_every_guard_executes(recordings: Recordings) -> None:
    session_id = recordings.session_id("0.24.4/e_normal")
    outcomes = ["executed", "failed", "failed", "failed", "executed", "executed"]
    for guard in ("none", "id-only", "id-breaker", "fingerprint", "any-fingerprint"):
        calls = _calls(recordings.store, session_id, guard)
        assert [(row[2], row[4]) for row in calls] == [("first-use", "execute")] * 6
        assert [row[3] for row in calls] == outcomes
    assert _verdicts(recordings.store, session_id) == [("completed",)]


def test_a_daemons_foreground_turn_ends_at_the_breaker_with_an_error_and_keeps_its_context(
    recordings: Recordings,
) -> None:
    """The second and third prompt find the first one's call handled: each is answered once more, then trips again."""
    session_id = recordings.session_id("0.24.4/h3_trip_on_three_prompts.acp")
    replayed = [("replay", "suppressed", "suppress"), ("replay", "skipped", "trip")]
    assert [row[2:] for row in _calls(recordings.store, session_id, "fingerprint")] == [
        ("first-use", "executed", "execute"),
        *replayed * 3,
    ]
    told = [(1, 3), (2, 2), (3, 2)]
    assert _trips(recordings.store, session_id, "fingerprint") == [(*at, "replay", "observed", True) for at in told]
    assert _verdicts(recordings.store, session_id) == [("stopped-visibly",)] * 3
    events = recordings.store.execute(
        "SELECT turn_no, loop_type, explained_by FROM loop_events WHERE session_id = ? ORDER BY turn_no", [session_id]
    ).fetchall()
    assert events == [(turn_no, "global_tool_call_duplicate", "guard-trip") for turn_no in (1, 2, 3)]


def _daemon_log_up_to_a_synthetic_answer() -> SessionLog:
    log = SessionLog().prompt().bookkeeping("file_history_snapshot")
    log.response(call("x")).answer("x")
    log.response(call("x__qwen_dup_2")).answer("x__qwen_dup_2", "duplicate", quoted_id="x")
    return log.response(text=True)


@pytest.mark.parametrize("origin", ["cron", "notification"])
def test_a_daemons_cron_or_background_turn_ends_gracefully(origin: Any) -> None:
    """Such a turn does not clear the answered ids, so the replay trips at once; whether anybody was told, no log says."""
    log = _daemon_log_up_to_a_synthetic_answer().prompt(origin).response(call("x__qwen_dup_3"))
    store = store_of([log.answer("x__qwen_dup_3", "loop-skip").facts()])
    assert _calls(store, "s", "fingerprint")[2:] == [(2, 1, "replay", "skipped", "trip")]
    assert _trips(store, "s", "fingerprint") == [(2, 1, "replay", "observed", None)]
    assert _verdicts(store, "s") == [("completed",), ("stopped-visibly",)]


def test_a_daemons_next_user_prompt_clears_the_answered_ids() -> None:
    log = _daemon_log_up_to_a_synthetic_answer().prompt("user").response(call("x__qwen_dup_3"))
    log.answer("x__qwen_dup_3", "duplicate", quoted_id="x").response(text=True)
    store = store_of([log.facts()])
    assert _calls(store, "s", "fingerprint")[2:] == [(2, 1, "replay", "suppressed", "suppress")]
    assert _trips(store, "s", "fingerprint") == []
    assert _verdicts(store, "s") == [("completed",), ("completed",)]
