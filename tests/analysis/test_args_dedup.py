"""The what-if guard that goes by tool and arguments: what the id guards cannot see, and what it takes for a repeat."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from msgspec.structs import replace

from analysis.analyse import analyse
from ingest.records import SessionFacts
from tests.support.session_log import SessionLog, call

A, B = {"command": "a"}, {"command": "b"}
Place = tuple[int, int, int]


@dataclass(frozen=True)
class Decided:
    by: dict[str, dict[Place, str]]

    @classmethod
    def of(cls, facts: SessionFacts) -> Decided:
        by: dict[str, dict[Place, str]] = {}
        for row in analyse(facts).decisions:
            by.setdefault(row.guard, {})[row.turn_no, row.response_no, row.call_no] = row.decision
        return cls(by)

    @property
    def args_dedup(self) -> dict[Place, str]:
        return self.by.get("args-dedup", {})


def run(*responses: list[tuple[str, dict[str, Any]]], log: SessionLog | None = None) -> SessionLog:
    log = log or SessionLog(version="0.15.10").prompt()
    for response in responses:
        log.response(*(call(call_id, args, part=part) for part, (call_id, args) in enumerate(response)))
        for call_id, _ in response:
            log.answer(call_id)
    return log


def test_the_same_arguments_under_fresh_ids_are_seen_by_no_guard_that_goes_by_ids() -> None:
    decided = Decided.of(run([("a", A)], [("b", A)], [("c", B)], [("d", A)]).facts())
    assert decided.by == {"args-dedup": {(1, 2, 1): "suppress", (1, 4, 1): "suppress"}}


def test_the_same_id_is_left_to_the_guards_that_go_by_ids() -> None:
    assert Decided.of(run([("a", A)], [("a", A)]).facts()).args_dedup == {}


def test_a_reused_id_with_arguments_of_another_call_is_a_repeat() -> None:
    assert Decided.of(run([("a", A)], [("b", B)], [("b", A)]).facts()).args_dedup == {(1, 3, 1): "suppress"}


def test_of_equal_calls_in_one_response_the_first_runs() -> None:
    """CASES A31 (hermes-agent#108584): two identical calls, two ids, one response."""
    assert Decided.of(run([("u1", A), ("u2", A)]).facts()).args_dedup == {(1, 1, 2): "suppress"}


def test_a_turn_begins_anew() -> None:
    log = run([("a", A)])
    log.response(text=True).prompt()
    assert Decided.of(run([("b", A)], log=log).facts()).args_dedup == {}


def test_another_tool_is_another_call_and_an_old_name_of_it_is_not() -> None:
    log = SessionLog(version="0.15.10").prompt()
    log.response(call("a", A, tool="task")).answer("a").response(call("b", A, tool="edit")).answer("b")
    log.response(call("c", A, tool="agent")).answer("c")
    assert Decided.of(log.facts()).args_dedup == {(1, 3, 1): "suppress"}


def test_a_call_that_never_ran_makes_no_repeat() -> None:
    log = SessionLog().prompt().bookkeeping("attribution_snapshot").response(call("a", A)).answer("a", "loop-skip")
    log.response(call("b", A)).answer("b")
    assert Decided.of(log.facts()).args_dedup == {}


def test_without_an_id_or_whole_arguments_nothing_is_claimed() -> None:
    assert Decided.of(run([("a", A)], [("", A)]).facts()).args_dedup == {}
    hidden = replace(call("b", A), args_state="redacted", fingerprint=None)
    log = run([("a", A)]).response(hidden).answer("b")
    assert Decided.of(log.facts()).args_dedup == {(1, 2, 1): "unknown"}
