"""The guards call by call, on logs built to the shape of a recording or of a public report (named in each test)."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from analysis.analyse import analyse
from analysis.findings import SessionFindings
from ingest.records import Compaction, SessionFacts
from tests.support.session_log import SessionLog, call

A, B, C = {"command": "a"}, {"command": "b"}, {"command": "c"}


def _no_guard(version: str = "0.15.10") -> SessionLog:
    """A client without a guard runs everything, so the log itself decides nothing for the guards replayed on it."""
    return SessionLog(version=version)


def _run(log: SessionLog, *calls: tuple[str | None, dict[str, str]]) -> SessionLog:
    for recorded_id, args in calls:
        log.response(call(recorded_id, args)).answer(recorded_id)
    return log


def _decisions(found: SessionFindings, guard: str) -> dict[tuple[int, int, int], str]:
    return {(row.turn_no, row.response_no, row.call_no): row.decision for row in found.decisions if row.guard == guard}


def _classes(found: SessionFindings) -> list[str]:
    return [row.call_class for row in found.calls]


def _trips(found: SessionFindings) -> dict[str, tuple[int, int, str]]:
    return {row.guard: (row.turn_no, row.response_no, row.basis) for row in found.trips}


def test_endless_replay_trips_once_a_turn() -> None:
    """CASES A1 (qwen-code#5014): 100 times the same call under one id, without a guard."""
    found = analyse(_run(_no_guard().prompt(), *[("shell_1", A)] * 100).facts())
    assert _classes(found) == ["first-use"] + ["replay"] * 99
    for guard in ("id-breaker", "fingerprint", "any-fingerprint"):
        assert _decisions(found, guard) == {(1, 2, 1): "suppress", (1, 3, 1): "trip"}
        # suppressing at r2 is where history first went another way; the trip after it is counterfactual
        assert _trips(found)[guard] == (1, 3, "counterfactual")
    assert set(_decisions(found, "id-only").values()) == {"suppress"}
    assert len(_decisions(found, "id-only")) == 99
    assert _decisions(found, "none") == {}
    assert sum(row.outcome == "executed" for row in found.calls) == 100


def test_kimi_restarting_at_zero_is_a_false_positive_of_the_id_alone() -> None:
    """CASES A2 (qwen-code#9436): one id, three commands."""
    calls = [("run_shell_command_0", A), ("run_shell_command_0", B), ("run_shell_command_0", C)]
    found = analyse(_run(_no_guard().prompt(), *calls).facts())
    assert _classes(found) == ["first-use", "collision", "collision"]
    assert _decisions(found, "id-breaker") == {(1, 2, 1): "suppress", (1, 3, 1): "trip"}
    assert _decisions(found, "fingerprint") == {}
    assert set(_trips(found)) == {"id-breaker"}


def test_a_batch_is_dropped_whole() -> None:
    """CASES A33: under the fingerprint guard the replay b0 takes the fresh a0 down with it."""
    log = _no_guard().prompt()
    for args in (A, B, C):
        log.response(call("a0", args), call("b0", A, part=1)).answer("a0").answer("b0")
    found = analyse(log.facts())
    assert _classes(found) == ["first-use", "first-use", "collision", "replay", "collision", "replay"]
    assert _decisions(found, "fingerprint") == {(1, 2, 2): "suppress", (1, 3, 1): "drop", (1, 3, 2): "trip"}


def test_the_shipped_guard_lets_the_second_call_repeat_for_ever() -> None:
    """Recording a4_replay_second_many (0.24.4): A, then B nine times, all run; only any-fingerprint sees the replay."""
    found = analyse(_run(_no_guard().prompt(), ("x", A), *[("x", B)] * 9).facts())
    assert _decisions(found, "fingerprint") == {}
    assert _decisions(found, "any-fingerprint") == {(1, 3, 1): "suppress", (1, 4, 1): "trip"}


def test_answered_ids_are_forgotten_at_the_next_prompt() -> None:
    """CASES A22 (review of #5657): one synthetic answer a prompt, no trip in the second."""
    log = _run(_no_guard().prompt(), ("x", A), ("x", A))
    log.response(text=True)
    _run(log.prompt(), ("x", A))
    found = analyse(log.facts())
    for guard in ("id-breaker", "fingerprint"):
        assert _decisions(found, guard) == {(1, 2, 1): "suppress", (2, 1, 1): "suppress"}
    assert found.trips == []


def test_an_old_and_a_new_name_are_one_tool() -> None:
    """CASES A24: `task` became `agent`."""
    log = _no_guard().prompt()
    log.response(call("t1", A, tool="task")).answer("t1").response(call("t1", A, tool="agent")).answer("t1")
    assert _classes(analyse(log.facts())) == ["first-use", "replay"]


@pytest.mark.parametrize("missing", ["null", "", None])
def test_no_id_is_never_a_repeat(missing: str | None) -> None:
    """CASES A17 (flink-agents#947)."""
    log = _no_guard().prompt()
    log.response(call(missing, A), call(missing, A, part=1)).answer(missing).answer(missing)
    log.response(call(missing, A)).answer(missing)
    found = analyse(log.facts())
    assert _classes(found) == ["no-id"] * 3
    assert [row.outcome for row in found.calls] == ["executed"] * 3
    assert found.decisions == []


def test_same_response_duplicate_is_dropped_and_never_trips() -> None:
    """CASES A10 (vllm#33141): ids 5, 7, 7 in one response."""
    log = _no_guard().prompt().response(call("f:5", A), call("f:7", B, part=1), call("f:7", C, part=2))
    log.answer("f:5").answer("f:7")
    found = analyse(log.facts())
    assert _classes(found) == ["first-use", "first-use", "same-response"]
    for guard in ("id-only", "id-breaker", "fingerprint", "any-fingerprint"):
        assert _decisions(found, guard) == {(1, 1, 3): "drop"}
    assert found.trips == []


def test_redacted_arguments_leave_the_fingerprint_guards_undecided() -> None:
    redacted = replace(call("x", A), args_state="redacted", fingerprint=None)
    log = _no_guard().prompt()
    for _ in range(3):
        log.response(redacted).answer("x")
    found = analyse(log.facts())
    assert _classes(found) == ["first-use", "unknown", "unknown"]
    assert _decisions(found, "id-breaker") == {(1, 2, 1): "suppress", (1, 3, 1): "trip"}
    assert _decisions(found, "fingerprint") == {(1, 2, 1): "unknown", (1, 3, 1): "unknown"}
    assert _decisions(found, "any-fingerprint") == {(1, 2, 1): "unknown", (1, 3, 1): "unknown"}


def _with_compaction(hint: str) -> SessionFacts:
    """Recording h9: compaction in mid-prompt empties the history, then the model repeats a call from before it."""
    log = _no_guard("0.24.4").prompt().bookkeeping(hint)
    _run(log, ("call_1", A))
    log.bookkeeping("placeholder")
    _run(log, ("call_1", A))
    place = log.records[4]
    log.records[4] = Compaction(
        place=place.place, session_id="s", uuid=place.uuid, parent_uuid=place.parent_uuid, ts=place.ts, version="0.24.4"
    )
    return log.facts()


def test_headless_remembers_over_a_compaction_and_the_daemon_does_not() -> None:
    headless = analyse(_with_compaction("attribution_snapshot"))
    daemon = analyse(_with_compaction("file_history_snapshot"))
    assert (headless.turns[0].entry_point, daemon.turns[0].entry_point) == ("headless", "acp")
    assert _classes(headless) == ["first-use", "replay"]
    assert _classes(daemon) == ["first-use", "first-use"]


def test_a_suffixed_id_echoed_back() -> None:
    """Recording f4 (0.24.4): the model sends the client's own `call_1__qwen_dup_2`. Headless runs it, the daemon does not."""

    def echoed(hint: str) -> SessionFindings:
        log = SessionLog().prompt().bookkeeping(hint)
        _run(log, ("call_1", A), ("call_1__qwen_dup_2", B), ("call_1__qwen_dup_2__qwen_dup_2", B))
        return analyse(log.facts())

    assert _decisions(echoed("attribution_snapshot"), "fingerprint") == {}
    assert _decisions(echoed("file_history_snapshot"), "fingerprint") == {(1, 3, 1): "suppress"}


def test_an_interrupted_call_counts_as_handled_at_the_next_prompt() -> None:
    """Recording h10: cut off by a kill, sent again with the same id and arguments after --continue."""
    log = SessionLog().prompt().bookkeeping("attribution_snapshot").response(call("call_2", A))
    log.prompt().bookkeeping("attribution_snapshot")
    log.response(call("call_2__qwen_dup_2", A)).answer("call_2__qwen_dup_2", "duplicate", quoted_id="call_2")
    found = analyse(log.facts())
    assert _classes(found) == ["first-use", "replay"]
    assert [row.outcome for row in found.calls] == ["unanswered", "suppressed"]
    assert [row for row in found.divergences if row.guard == "fingerprint"] == []
    assert [row.verdict for row in found.turns] == ["truncated", "truncated"]


def test_a_background_turn_of_the_daemon_keeps_the_answered_ids() -> None:
    """QWEN_CODE.md 7: the daemon clears them at a prompt, but not for cron turns; headless clears at every one."""

    def two_turns(hint: str) -> SessionFindings:
        log = SessionLog().prompt().bookkeeping(hint)
        _run(log, ("x", A)).response(call("x__qwen_dup_2", A)).answer("x__qwen_dup_2", "duplicate", quoted_id="x")
        log.response(text=True).prompt("cron").bookkeeping(hint).response(call("x__qwen_dup_3", A))
        return analyse(log.facts())

    assert two_turns("file_history_snapshot").trips[-1].turn_no == 2
    assert two_turns("attribution_snapshot").trips == []


def test_any_fingerprint_knows_what_the_guards_between_which_it_stands_know() -> None:
    """Never a repeat that is none by id, always one that the first call's fingerprint makes."""
    log = SessionLog(version="0.21.10").prompt().bookkeeping("file_history_snapshot").response(call("y", A))
    for number in (2, 3, 4):  # y itself was never answered, so the client's guard by id knows no y
        log.response(call(f"y__qwen_dup_{number}", A)).answer(f"y__qwen_dup_{number}")
    found = analyse(log.facts())
    assert _decisions(found, "id-breaker") == _decisions(found, "any-fingerprint") == {}
    # Recording f4: the model sends the client's own id back.
    log = SessionLog().prompt().bookkeeping("file_history_snapshot")
    _run(log, ("call_1", A), ("call_1__qwen_dup_2", B), ("call_1__qwen_dup_2__qwen_dup_2", B))
    assert _decisions(analyse(log.facts()), "any-fingerprint") == {(1, 3, 1): "suppress"}
