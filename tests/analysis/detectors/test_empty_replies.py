"""Replies that hold nothing, as the client's versions write them down or do not."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from analysis.analyse import analyse
from ingest.records import Event, HistoryEntry, SessionFacts
from tests.support.loop_log import TOKENS, LoopLog

PROMPT_ID = "s########0"


def _empty(times: int) -> LoopLog:
    log = LoopLog().asked()
    for _ in range(times):
        log.replied()
    return log


def _with(facts: SessionFacts, **changed: Any) -> SessionFacts:
    return replace(facts, **changed)


def _kinds(facts: SessionFacts) -> dict[str, str]:
    return {row.kind: row.reason for row in analyse(facts).findings}


def test_requests_that_were_answered_with_nothing_leave_only_their_event() -> None:
    """0.21, recording g3: five api_response events and no response."""
    log = LoopLog(version="0.21.10").asked()
    for _ in range(5):
        log.bookkeeping("api_response", prompt_id=PROMPT_ID)
    retry = Event(
        place=log.records[0].place, session_id="s", ts=log.records[-1].ts, channel="telemetry", name="chat.content_retry"
    )
    found = _kinds(_with(log.facts(), events=(retry,) * 4))
    assert found["empty-replies"] == "5 empty replies in a row; the client asked again by itself 4x"


def test_the_event_before_a_response_is_that_response() -> None:
    log = LoopLog().asked()
    for _ in range(9):
        log.bookkeeping("api_response", prompt_id=PROMPT_ID).response(text=True)
    assert "empty-replies" not in _kinds(log.facts())


def test_a_sub_agents_requests_are_not_its_parents() -> None:
    log = LoopLog().asked().bookkeeping("api_response", prompt_id=PROMPT_ID).response()
    for number in range(9):
        log.bookkeeping("api_response", prompt_id=f"s#agent#{number}")
    assert "empty-replies" not in _kinds(log.facts())


def test_what_they_cost() -> None:
    (row,) = [row for row in analyse(_empty(5).facts()).findings if row.kind == "empty-replies"]
    assert (row.wasted_calls, row.wasted_tokens, row.wasted_seconds) == (0, 5 * TOKENS, 5.0)


def test_a_failed_compaction_makes_them_unknown() -> None:
    log = _empty(9)
    place, ts = log.records[0].place, log.records[-1].ts
    failed = Event(place=place, session_id="s", ts=ts, channel="telemetry", name="chat_compression", status="failed")
    found = analyse(_with(log.facts(), events=(failed,)))
    assert [(row.kind, row.confidence) for row in found.findings if "repl" in row.reason] == [("cannot-tell-loop", "unknown")]
    assert found.turns[0].looping is None


def test_a_compaction_that_kept_the_history_does_not() -> None:
    assert "empty-replies" in _kinds(_empty(5).compacted(HistoryEntry("call", "call_1")).facts())
    assert "empty-replies" not in _kinds(_empty(5).compacted().facts())


def test_prompts_by_the_client_itself_are_told() -> None:
    log = LoopLog()
    for _ in range(5):
        log.prompt("notification")
        log.replied()
    found = _kinds(log.facts())
    assert found["empty-replies-across-turns"] == "5 empty replies in a row over 5 turns, 5 of them begun by the client itself"
