"""Test cases: cut from a session, written, read, and replayed to the same decisions."""

from __future__ import annotations

import json

import pytest

from analysis.case_cut import NoDifference, cut_case, decisions_of
from analysis.case_facts import CaseSession
from analysis.guard_case import (
    BadCase,
    CaseCall,
    CompactionStep,
    GuardCase,
    KeptCall,
    PromptStep,
    ResponseStep,
    Step,
    read_case,
    written,
)
from analysis.guards import BUILT_IN, Contender
from analysis.guards.arguments import ArgumentsUnknown, no_source
from analysis.guards.load import load
from analysis.trial import replayed
from ingest.records import Place, Response
from tests.support.session_log import SessionLog, call

GUARD = {one.name: one for one in BUILT_IN}
SECRET = "cat /home/anna/.ssh/id_ed25519"


def _long_session() -> SessionLog:
    """Two hundred calls of ordinary work, and among them one id that comes back with another command."""
    log = SessionLog(version="0.15.10").prompt().bookkeeping("attribution_snapshot")
    for number in range(100):
        log.response(call(f"call_{number}", {"command": f"make {number}"})).answer(f"call_{number}")
    log.response(text=True).prompt().bookkeeping("attribution_snapshot")
    log.response(call("call_7", {"command": SECRET}), call("call_100", {"command": "ls"}, part=1))
    log.answer("call_7").answer("call_100")
    for number in range(101, 200):
        log.response(call(f"call_{number}", {"command": f"make {number}"})).answer(f"call_{number}")
    return log


def test_two_hundred_calls_come_down_to_two() -> None:
    case = cut_case(_long_session().facts(), GUARD["id-breaker"], GUARD["fingerprint"])
    kinds = [type(step).__name__ for step in case.steps]
    assert [kind for kind in kinds if kind != "PromptStep"] == ["ResponseStep", "ResponseStep"]
    assert len(kinds) <= 4
    calls = [one for step in case.steps if isinstance(step, ResponseStep) for one in step.calls]
    assert len(calls) == 2
    first, second = calls
    assert first.id == second.id
    assert first.name == second.name
    assert first.arguments != second.arguments
    assert {one.answered for one in calls} == {"ok"}
    assert case.decisions == {"id-breaker": [["execute"], ["suppress"]], "fingerprint": [["execute"], ["execute"]]}
    assert case.about == "id-breaker decides suppress, fingerprint execute"


def test_nothing_of_the_log_is_in_it() -> None:
    text = written(cut_case(_long_session().facts(), GUARD["id-breaker"], GUARD["fingerprint"])).decode()
    for word in ("anna", "make", "call_7", "run_shell_command", "id_ed25519"):
        assert word not in json.dumps(json.loads(text)["steps"])


def test_what_is_written_is_read_and_replays_to_the_same() -> None:
    case = cut_case(_long_session().facts(), GUARD["id-breaker"], GUARD["fingerprint"])
    again = read_case(written(case))
    assert again == case
    for name, expected in case.decisions.items():
        assert decisions_of(replayed(CaseSession(again).facts(), GUARD[name]), name) == expected


def test_a_turn_without_a_difference_gives_none() -> None:
    facts = _long_session().facts()
    with pytest.raises(NoDifference, match="do not differ in turn 1 as a fact"):
        cut_case(facts, GUARD["id-breaker"], GUARD["fingerprint"], turn_no=1)
    with pytest.raises(NoDifference, match="do not differ in this session"):
        cut_case(facts, GUARD["fingerprint"], GUARD["any-fingerprint"])


def test_a_difference_that_redaction_takes_away_is_said_to_be_one() -> None:
    """Two orders of the same keys: the fingerprints are one, so the tokens are."""
    log = SessionLog(version="0.15.10").prompt().bookkeeping("attribution_snapshot")
    log.response(call("x", {"a": 1, "b": 2})).answer("x").response(call("x", {"b": 2, "a": 1})).answer("x")
    logged = {400: {"a": 1, "b": 2}, 200: {"b": 2, "a": 1}}

    def source(place: Place, fingerprint: bytes) -> object:
        if place.source == "case":
            raise ArgumentsUnknown("a case is in no log")
        return logged[place.offset]

    raw = load("raw", "fingerprint:canonical=off", source, 1)
    with pytest.raises(NoDifference, match="redaction takes away"):
        cut_case(log.facts(), GUARD["fingerprint"], raw)


def _decisions(guard: Contender, case: GuardCase) -> list[list[str]]:
    return decisions_of(replayed(CaseSession(case).facts(), guard), guard.name)


def test_the_clients_suffix_follows_the_history() -> None:
    """Recording f4: the model sends `x__qwen_dup_2` back. The daemon knows that id, headless does not."""
    steps: list[Step] = [
        PromptStep(),
        *(
            ResponseStep([CaseCall(call_id, "shell", {"n": n}, "ok")])
            for call_id, n in (("x", 1), ("x", 2), ("x__qwen_dup_2", 2))
        ),
    ]
    headless = GuardCase(steps=steps, client_version="0.24.4", entry_point="headless")
    daemon = GuardCase(steps=steps, client_version="0.24.4", entry_point="acp")
    recorded = [one.recorded_id for record in CaseSession(daemon).facts().records for one in getattr(record, "calls", ())]
    assert recorded == ["x", "x__qwen_dup_2", "x__qwen_dup_2__qwen_dup_2"]
    assert _decisions(GUARD["fingerprint"], headless)[-1] == ["execute"]
    assert _decisions(GUARD["fingerprint"], daemon)[-1] == ["suppress"]


@pytest.mark.parametrize(
    ("entry_point", "last"), [("headless", "suppress"), ("tui", "suppress"), ("acp", "execute"), ("serve", "execute")]
)
def test_each_entry_point_is_known_from_the_case(entry_point: str, last: str) -> None:
    """A compaction in mid-prompt: what the daemons forget (recording h9)."""
    step = ResponseStep([CaseCall("x", "shell", {"n": 1}, "ok")])
    case = GuardCase(steps=[PromptStep(), step, CompactionStep([]), step], client_version="0.24.4", entry_point=entry_point)
    (state,) = replayed(CaseSession(case).facts(), GUARD["fingerprint"])
    assert state.entry_point == entry_point
    assert _decisions(GUARD["fingerprint"], case)[-1] == [last]


def test_what_a_compaction_kept_is_handled() -> None:
    kept = KeptCall("x", "shell", {"n": 1})
    steps: list[Step] = [
        PromptStep(),
        CompactionStep([kept]),
        PromptStep(),
        ResponseStep([CaseCall("x", "shell", {"n": 1}, "ok")]),
    ]
    assert _decisions(GUARD["fingerprint"], GuardCase(steps=steps, client_version="0.15.10")) == [["suppress"]]
    kept.is_answered = False
    assert _decisions(GUARD["id-only"], GuardCase(steps=steps, client_version="0.15.10")) == [["suppress"]]


def test_arguments_that_are_not_known_stay_unknown() -> None:
    step = ResponseStep([CaseCall("x", "shell", None, "ok")])
    case = GuardCase(steps=[PromptStep(), step, step], client_version="0.15.10")
    assert _decisions(GUARD["fingerprint"], case) == [["execute"], ["unknown"]]
    assert _decisions(GUARD["id-breaker"], case) == [["execute"], ["suppress"]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"[]", "it is no test case"),
        (b"\xff", "it is no test case"),
        (b'{"steps": []}', "first step is no prompt"),
        (b'{"steps": [{"step": "prompt"}], "format_version": 9}', "version 9, and not"),
        (b'{"steps": [{"step": "prompt"}], "format": "other"}', "'other'"),
    ],
)
def test_a_file_that_is_none(text: bytes, message: str) -> None:
    with pytest.raises(BadCase, match=message):
        read_case(text)


def test_a_case_has_no_log_and_needs_none() -> None:
    case = GuardCase(steps=[PromptStep(), ResponseStep([CaseCall("x", "shell", {"text": "y" * 5000}, "ok")])])
    session = CaseSession(case)
    (response,) = [record for record in session.facts().records if isinstance(record, Response)]
    (one,) = response.calls
    assert one.fingerprint is not None
    assert (len(one.args_json), one.args_bytes) == (1024, 5011)
    assert session.source(response.place, one.fingerprint) == {"text": "y" * 5000}
    with pytest.raises(Exception, match="no log to read them from"):
        no_source(response.place, one.fingerprint)
