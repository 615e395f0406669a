"""CASES part C: how a turn ended. Each expected verdict is the case's own; each shape is its log, with its minutes."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from analysis.analyse import analyse
from analysis.findings import SessionFindings, TurnRow
from ingest.records import Event, Place
from tests.support.session_log import START, SessionLog, call

COMMANDS = [{"command": f"make {name}"} for name in ("one", "two", "three")]
FIRST_PROMPT, SECOND_PROMPT = "s########1", "s########2"


def _found(log: SessionLog, *events: Event) -> SessionFindings:
    return analyse(replace(log.facts(), events=events))


def _verdicts(log: SessionLog, *events: Event) -> list[str]:
    return [turn.verdict for turn in _found(log, *events).turns]


def _last(log: SessionLog, *events: Event) -> TurnRow:
    return _found(log, *events).turns[-1]


def _daemon(version: str = "0.24.4") -> SessionLog:
    return SessionLog(version=version).prompt().bookkeeping("file_history_snapshot", prompt_id=FIRST_PROMPT)


def _next_prompt(log: SessionLog) -> SessionLog:
    return log.prompt().bookkeeping("file_history_snapshot", prompt_id=SECOND_PROMPT)


def _event(**fields: Any) -> Event:
    common: dict[str, Any] = {"place": Place("beside.jsonl", 0, 1, 1), "session_id": "s", "ts": START + 9_000_000}
    return Event(**{**common, **fields})


def _collisions_until_the_breaker(log: SessionLog) -> SessionLog:
    log.response(call("sh_0", COMMANDS[0])).answer("sh_0")
    log.response(call("sh_0__qwen_dup_2", COMMANDS[1])).answer("sh_0__qwen_dup_2", "duplicate", quoted_id="sh_0")
    log.records[-1] = replace(log.records[-1], guard_hint="id-breaker")
    return log.response(call("sh_0__qwen_dup_3", COMMANDS[2]))


def test_c1_the_breaker_fires_in_silence() -> None:
    """qwen-code#9435, #8382: no loop event, the turn ends as if all were well, and the user types again."""
    log = _next_prompt(_collisions_until_the_breaker(_daemon("0.21.10"))).response(text=True)
    ended = _event(channel="wire", name="prompt_response", status="end_turn")
    found = _found(log, ended)
    assert [turn.verdict for turn in found.turns] == ["silent-hang", "completed"]
    assert "guard id-breaker tripped" in found.turns[0].reason
    assert [(row.guard, row.recorded, row.told_user, row.telemetry) for row in found.trips if row.guard == "id-breaker"] == [
        ("id-breaker", False, False, "none")
    ]
    assert found.loop_events == []


def test_c2_a_dropped_batch_is_no_interruption() -> None:
    """qwen-code#9573, #9593: two calls dropped, no results, and the session goes on."""
    log = _daemon("0.21.10")
    log.response(call("a", COMMANDS[0])).answer("a")
    log.response(call("a__qwen_dup_2", COMMANDS[0])).answer("a__qwen_dup_2", "duplicate", quoted_id="a")
    log.records[-1] = replace(log.records[-1], guard_hint="id-breaker")
    log.response(call("a__qwen_dup_3", COMMANDS[0]), call("b", COMMANDS[1], part=1))
    found = _found(_next_prompt(log).response(text=True))
    assert [row.outcome for row in found.calls] == ["executed", "suppressed", "dropped", "dropped"]
    assert "truncated" not in [turn.verdict for turn in found.turns]


def test_c2_the_newer_client_writes_an_answer_for_each() -> None:
    log = _daemon()
    log.response(call("a", COMMANDS[0])).answer("a")
    log.response(call("a__qwen_dup_2", COMMANDS[0])).answer("a__qwen_dup_2", "duplicate", quoted_id="a")
    log.response(call("a__qwen_dup_3", COMMANDS[0]), call("b", COMMANDS[1], part=1))
    log.answer("a__qwen_dup_3", "loop-skip").answer("b", "loop-skip")
    found = _found(log)
    assert [row.outcome for row in found.calls][2:] == ["skipped", "skipped"]
    assert found.turns[0].verdict == "stopped-visibly"


def test_c3_nothing_after_a_result() -> None:
    """claude-code#47996: eleven minutes between the result and the user's interrupt, and no answer of the model."""
    log = SessionLog().prompt().response(call("a")).answer("a").wait(minutes=11).bookkeeping("interrupted")
    turn = _last(log)
    assert (turn.verdict, turn.confidence) == ("silent-hang", "probable")
    assert "11 min" in turn.reason


def test_c3_the_next_prompt_in_the_same_daemon_is_a_witness_too() -> None:
    log = _daemon().response(call("a")).answer("a").wait(minutes=11)
    assert _verdicts(_next_prompt(log).response(text=True)) == ["silent-hang", "completed"]


def test_c3_a_prompt_to_another_process_is_none() -> None:
    """A kill and a resume leave the same gap; the prompt numbers begin anew (or, headless, go on over processes)."""
    resumed = _daemon().response(call("a")).answer("a").wait(minutes=600)
    resumed.prompt().bookkeeping("file_history_snapshot", prompt_id=FIRST_PROMPT).response(text=True)
    assert _verdicts(resumed) == ["truncated", "completed"]
    headless = SessionLog().prompt().bookkeeping("attribution_snapshot", prompt_id=FIRST_PROMPT)
    headless.response(call("a")).answer("a").wait(minutes=600)
    headless.prompt().bookkeeping("attribution_snapshot", prompt_id=SECOND_PROMPT).response(text=True)
    assert _verdicts(headless) == ["truncated", "completed"]


def test_c3_an_interrupt_after_seconds_is_a_cancel() -> None:
    assert _last(SessionLog().prompt().response(call("a")).answer("a").bookkeeping("interrupted")).verdict == "cancelled"


def test_c6_a_slow_test_run_is_healthy() -> None:
    """untether#105: fourteen minutes, then the result."""
    log = SessionLog().prompt().response(call("a", {"command": "make test"})).wait(minutes=14).answer("a").response(text=True)
    assert _verdicts(log) == ["completed"]


def test_c6_a_network_tool_that_never_returns_hangs() -> None:
    """untether#154: eighty-two minutes, no result, then the user calls it off."""
    log = SessionLog().prompt().response(call("a", {"url": "u"}, tool="web_fetch")).wait(minutes=82).bookkeeping("interrupted")
    turn = _last(log)
    assert turn.verdict == "silent-hang"
    assert "web_fetch did not return" in turn.reason
    answered = (
        SessionLog().prompt().response(call("a", {"url": "u"}, tool="web_fetch")).wait(minutes=82).answer("a", "cancelled")
    )
    assert _last(answered).verdict == "silent-hang"
    soon = SessionLog().prompt().response(call("a", {"url": "u"}, tool="web_fetch")).wait(minutes=2).answer("a", "cancelled")
    assert _last(soon).verdict == "cancelled"


def test_c7_a_thought_is_no_answer() -> None:
    """qwen-code#7034: all tools succeed, the last record is a thought and the text `(empty content)`."""
    log = SessionLog().prompt().response(call("a")).answer("a").response(thought=True).prompt().response(text=True)
    assert _verdicts(log) == ["silent-hang", "completed"]


def test_c8_a_stop_for_tool_use_without_a_tool() -> None:
    """earendil-works/pi#9681."""
    turn = _last(SessionLog().prompt().response(stop_reason="tool_use"))
    assert turn.verdict == "silent-hang"
    assert "named none" in turn.reason


def test_c10_empty_turns_after_a_switch_of_model() -> None:
    """kimi-code#3429: nine of ten turns of the second model end with nothing."""
    log = (
        SessionLog()
        .prompt()
        .response(call("call_0a1b2c3d"), model="glm")
        .answer("call_0a1b2c3d")
        .response(text=True, model="glm")
    )
    for _ in range(9):
        log.prompt().response(model="kimi")
    log.prompt().response(text=True, model="kimi")
    found = _found(log)
    assert [turn.verdict for turn in found.turns] == ["completed", *["silent-hang"] * 9, "completed"]
    assert all("glm" in turn.reason for turn in found.turns[1:10])


def test_c11_killed_in_a_tool() -> None:
    """kimi-code#771, qwen-code#5624: the log ends after the call, and nothing came later."""
    turn = _last(SessionLog().prompt().response(call("a")))
    assert (turn.verdict, turn.open_ended) == ("truncated", True)


def test_c11_a_process_that_began_later_does_not_run_the_turn() -> None:
    """`runtime.json` is rewritten by the process that takes a session up (0.24.4); its start tells that the old one is gone."""
    log = SessionLog().prompt().response(call("a"))
    later = _event(channel="side", name="runtime", ts=START + 3_600_000_000)
    before = _event(channel="side", name="runtime", ts=START)
    assert (_last(log, later).verdict, _last(log, later).open_ended) == ("truncated", False)
    assert (_last(log, before).verdict, _last(log, before).open_ended) == ("truncated", True)


def test_c12_a_limit_ends_the_stream_without_a_result() -> None:
    """Exit 53 is the turn limit, 55 the budget, 130 a cancel."""

    def with_exit(code: str) -> str:
        log = SessionLog().prompt().response(call("a")).answer("a")
        return _last(log, _event(channel="side", name="exit", status=code)).verdict

    assert [with_exit(code) for code in ("53", "55", "130")] == ["stopped-visibly", "stopped-visibly", "cancelled"]


def test_c14_a_tool_that_never_finishes_while_bookkeeping_goes_on() -> None:
    """open-webui/computer#213: the status never leaves running, and nothing but snapshots arrives."""
    turn = _last(SessionLog().prompt().response(call("a")).wait(minutes=45).bookkeeping("file_history_snapshot"))
    assert turn.verdict == "silent-hang"
    assert "only bookkeeping followed" in turn.reason
    soon = _last(SessionLog().prompt().response(call("a")).wait(minutes=2).bookkeeping("file_history_snapshot"))
    assert soon.verdict == "truncated"


def test_a_question_waits_for_a_person() -> None:
    turn = _last(SessionLog().prompt().response(call("a", {"questions": []}, tool="ask_user_question")))
    assert turn.verdict == "waiting-for-human"


def test_an_approval_that_was_asked_for_waits_for_a_person() -> None:
    asked = _event(channel="span", name="tool.blocked_on_user", call_id="a")
    assert _last(SessionLog().prompt().response(call("a")), asked).verdict == "waiting-for-human"


def test_appending_healthy_turns_changes_no_earlier_verdict() -> None:
    log = _collisions_until_the_breaker(_daemon("0.21.10"))
    before = _verdicts(log)
    for _ in range(5):
        log.prompt().bookkeeping("file_history_snapshot").response(text=True)
    assert _verdicts(log)[: len(before)] == before
