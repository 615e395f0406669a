"""How a turn ended. Each shape is a row of QWEN_CODE.md 5 (hang/kill, breaker trip) or a public case."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from analysis.analyse import analyse
from analysis.findings import SessionFindings, TurnRow
from ingest.records import Event, Place
from tests.support.session_log import START, SessionLog, call

A = {"command": "a"}


def _last(log: SessionLog, *events: Event) -> TurnRow:
    return analyse(replace(log.facts(), events=events)).turns[-1]


def _event(**fields: Any) -> Event:
    common: dict[str, Any] = {"place": Place("telemetry.log", 0, 1, 7), "session_id": "s", "ts": START + 9_000_000}
    return Event(**{**common, "channel": "telemetry", **fields})


def _tripped(version: str, hint: str) -> SessionLog:
    log = SessionLog(version=version).prompt().bookkeeping(hint).response(call("call_1", A)).answer("call_1")
    log.response(call("call_1__qwen_dup_2", A)).answer("call_1__qwen_dup_2", "duplicate", quoted_id="call_1")
    log.records[-1] = replace(log.records[-1], guard_hint=None)
    return log.response(call("call_1__qwen_dup_3", A))


def test_the_old_daemons_trip_is_a_silent_hang() -> None:
    turn = _last(_tripped("0.21.10", "file_history_snapshot"))
    assert (turn.verdict, turn.confidence) == ("silent-hang", "certain")
    assert turn.evidence == ["log.jsonl:5", "log.jsonl:7"]


def test_headless_and_tui_say_so() -> None:
    assert _last(_tripped("0.21.10", "attribution_snapshot")).verdict == "stopped-visibly"
    assert _last(_tripped("0.24.4", "attribution_snapshot")).verdict == "stopped-visibly"


def test_the_same_bytes_without_the_replay_are_a_kill() -> None:
    """The dangling call is fresh: the guard did not drop it, so the log was cut."""
    log = SessionLog(version="0.21.10").prompt().bookkeeping("file_history_snapshot").response(call("call_9", A))
    turn = _last(log)
    assert (turn.verdict, turn.open_ended) == ("truncated", True)


def test_an_unknown_guard_may_have_tripped() -> None:
    turn = _last(_tripped("0.22.0", "file_history_snapshot"))
    assert (turn.verdict, turn.confidence) == ("truncated", "unknown")
    assert analyse(_tripped("0.22.0", "file_history_snapshot").facts()).calls[-1].outcome == "unknown"


def test_a_final_answer_completes() -> None:
    turn = _last(SessionLog().prompt().response(call("call_1")).answer("call_1").response(text=True))
    assert (turn.verdict, turn.evidence) == ("completed", ["log.jsonl:4"])


def test_an_empty_last_response_is_a_silent_hang() -> None:
    """CASES C7 (qwen-code#7034): a thought and the text `(empty content)`."""
    turn = _last(SessionLog().prompt().response(call("call_1")).answer("call_1").response())
    assert (turn.verdict, turn.confidence) == ("silent-hang", "probable")


def test_a_kill_in_the_first_turn_is_truncated_and_the_resumed_one_stands_for_itself() -> None:
    log = SessionLog().prompt().bookkeeping("attribution_snapshot").response(call("call_1")).prompt().response(text=True)
    found = analyse(log.facts())
    assert [(turn.verdict, turn.open_ended) for turn in found.turns] == [("truncated", False), ("completed", False)]


def test_the_clients_loop_detector_stops_visibly() -> None:
    """Recording i_identical_unique_ids (headless): four calls, the fifth response is in no log."""
    log = SessionLog().prompt().bookkeeping("attribution_snapshot")
    for number in range(4):
        log.response(call(f"call_{number}", A)).answer(f"call_{number}")
    event = _event(name="loop_detected", loop_type="consecutive_identical_tool_calls", ts=START + 20_000_000)
    found = analyse(replace(log.facts(), events=(event,)))
    assert found.turns[0].verdict == "stopped-visibly"
    assert [(row.loop_type, row.turn_no, row.explained_by) for row in found.loop_events] == [
        ("consecutive_identical_tool_calls", 1, "detector")
    ]
    assert found.turns[0].looping == "client-loop-stop"


def test_a_refused_request_without_an_answer_after_it_is_a_provider_error() -> None:
    log = SessionLog().prompt().bookkeeping("api_error")
    assert _last(log).verdict == "provider-error"
    assert _last(log.response(text=True)).verdict == "completed"


def test_events_of_two_turns_with_one_prompt_id_go_by_the_clock() -> None:
    """Headless 0.21 names every prompt `...########0` (QWEN_CODE.md 6)."""
    log = SessionLog(version="0.21.10").prompt().bookkeeping("attribution_snapshot").response(text=True)
    log.prompt().bookkeeping("attribution_snapshot").response(call("call_1")).answer("call_1")
    for index in (1, 4):
        log.records[index] = replace(log.records[index], prompt_id="s########0")
    event = _event(name="loop_detected", loop_type="read_file_loop", prompt_id="s########0", ts=START + 30_000_000)
    found = analyse(replace(log.facts(), events=(event,)))
    assert [row.turn_no for row in found.loop_events] == [2]
    assert [turn.verdict for turn in found.turns] == ["completed", "stopped-visibly"]


def _found(log: SessionLog) -> SessionFindings:
    return analyse(log.facts())


def test_fresh_calls_killed_by_the_old_guard_are_a_finding_of_their_own() -> None:
    log = SessionLog(version="0.21.10").prompt().bookkeeping("attribution_snapshot")
    log.response(call("sh_0", A)).answer("sh_0")
    log.response(call("sh_0__qwen_dup_2", {"command": "b"})).answer("sh_0__qwen_dup_2", "duplicate", quoted_id="sh_0")
    log.records[-1] = replace(log.records[-1], guard_hint="id-breaker")
    log.response(call("sh_0__qwen_dup_3", {"command": "c"}))
    found = _found(log)
    assert {row.kind: row.severity for row in found.findings} == {"fresh-calls-blocked": 3}
    assert [(row.guard, row.basis, row.trip_class) for row in found.trips] == [("id-breaker", "observed", "collision")]


def test_a_healthy_turn_has_no_finding() -> None:
    found = _found(SessionLog().prompt().response(call("call_1")).answer("call_1").response(text=True))
    assert found.findings == []
    assert found.trips == []
    assert found.divergences == []


def test_a_log_without_prompt_or_call_makes_no_session() -> None:
    assert _found(SessionLog().bookkeeping("custom_title")).session is None
