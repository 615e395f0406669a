"""The same action put to a person again: from what interfaces were told of approvals, and from telemetry's decisions."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from analysis.analyse import analyse
from analysis.findings import FindingRow
from ingest.records import Event, Place, SessionFacts
from tests.support.card_events import CardLog
from tests.support.session_log import SessionLog, call

RM = {"command": "rm -rf build"}


def repeats(facts: SessionFacts) -> list[FindingRow]:
    return [row for row in analyse(facts).findings if row.kind == "high-risk-repeat"]


def asked(*questions: tuple[str, dict[str, str], str]) -> SessionFacts:
    log = CardLog()
    for call_id, args, answer in questions:
        log.round().start(call_id, args, tool="run_shell_command").approval(call_id, answer)
    return log.facts()


def decided(call_id: str, decision: str, line: int) -> Event:
    return Event(
        place=Place("/logs/telemetry.log", line * 100, 99, line),
        session_id="s",
        channel="telemetry",
        name="tool_call",
        call_id=call_id,
        attributes={"decision": decision},
    )


def in_telemetry(*decisions: str, **more: Any) -> SessionFacts:
    log = SessionLog().prompt().bookkeeping("attribution_snapshot")
    for number in range(len(decisions)):
        log.response(call(f"c{number}", RM)).answer(f"c{number}")
    events = tuple(decided(f"c{number}", decision, number + 1) for number, decision in enumerate(decisions))
    return replace(log.facts(), events=events, **more)


def test_one_action_under_three_ids() -> None:
    (row,) = repeats(
        asked(("a", RM, "denied"), ("b", RM, "denied"), ("x", {"command": "ls"}, "approved"), ("c", RM, "approved"))
    )
    assert (row.severity, row.confidence, row.wasted_calls, row.turn_no) == (3, "certain", 2, None)
    assert row.reason == (
        "run_shell_command with the same arguments was put to a person 3 times, under the ids a, b, c (2 denied, 1 approved)"
    )
    assert row.evidence == ["/logs/desk.ndjson:3", "/logs/desk.ndjson:6", "/logs/desk.ndjson:12"]


def test_once_is_no_repeat_nor_is_the_same_id_nor_are_other_arguments_or_another_tool() -> None:
    assert repeats(asked(("a", RM, "approved"))) == []
    assert repeats(asked(("a", RM, "denied"), ("a", RM, "approved"))) == []
    assert repeats(asked(("a", RM, "denied"), ("b", {"command": "rm -rf dist"}, "approved"))) == []
    log = CardLog().start("a", RM, tool="shell").approval("a", "denied").start("b", RM, tool="exec").approval("b", "denied")
    assert repeats(log.facts()) == []


def test_what_nobody_was_asked_is_no_repeat() -> None:
    assert repeats(CardLog().start("a", RM).completed("a").start("b", RM).completed("b").facts()) == []
    assert repeats(in_telemetry("auto_accept", "auto_accept")) == []


def test_a_call_whose_arguments_were_never_told_cannot_be_compared() -> None:
    assert repeats(CardLog().start("a").approval("a", "denied").start("b").approval("b", "denied").facts()) == []


def test_decisions_in_telemetry_have_their_turn() -> None:
    (row,) = repeats(in_telemetry("reject", "accept", "auto_accept"))
    assert (row.turn_no, row.wasted_calls) == (1, 1)
    assert "under the ids c0, c1 (1 denied, 1 approved)" in row.reason
    assert row.evidence == ["/logs/telemetry.log:1", "/logs/telemetry.log:2"]


def test_one_question_told_twice_is_one() -> None:
    """By the interface and by telemetry."""
    log = CardLog().start("c0", RM, tool="run_shell_command").approval("c0", "approved")
    assert repeats(in_telemetry("accept", cards=tuple(log.events))) == []
