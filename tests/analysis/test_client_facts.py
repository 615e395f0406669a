"""Guard and entry point of a turn. Versions and hints: QWEN_CODE.md, first table and section 6."""

from __future__ import annotations

import pytest

from analysis.client_facts import EntryPoints, guard_by_version, guards_in_force
from analysis.timeline import build_turns
from tests.support.session_log import SessionLog, call


@pytest.mark.parametrize(
    ("version", "guard"),
    [
        ("0.5.2", "none"),
        ("0.12.0", "none"),
        ("0.15.10", "none"),
        ("0.16.0", "unknown"),
        ("0.21.2", "id-breaker"),
        ("0.21.10", "id-breaker"),
        ("0.22.0", "unknown"),
        ("0.23.0", "fingerprint"),
        ("0.24.4", "fingerprint"),
        ("0.24.5-nightly.20261130", "fingerprint"),
        (None, "unknown"),
        ("dev", "unknown"),
    ],
)
def test_guard_by_version(version: str | None, guard: str) -> None:
    assert guard_by_version("qwen-code", version) == guard


def test_other_clients_have_no_guard() -> None:
    assert guard_by_version("codex", "0.171.0") == "none"


def test_a_synthetic_answers_text_tells_the_guard_where_the_version_cannot() -> None:
    log = SessionLog(version="0.22.3").prompt().response(call("x")).answer("x", "duplicate", quoted_id="x").prompt()
    assert guards_in_force("qwen-code", build_turns(log.records)) == ["fingerprint", "fingerprint"]


def test_the_guard_changes_with_the_version_in_mid_session() -> None:
    log = SessionLog(version="0.21.10").prompt().response(text=True)
    log.version = "0.24.4"
    log.prompt().response(text=True)
    assert guards_in_force("qwen-code", build_turns(log.records)) == ["id-breaker", "fingerprint"]


@pytest.mark.parametrize(
    ("hints", "entry_point"),
    [
        (["attribution_snapshot"], "headless"),
        (["file_history_snapshot"], "acp"),
        (["attribution_snapshot", "file_history_snapshot"], "tui"),
        (["file_history_snapshot", "branch_checkpoint"], "acp"),
        (["file_history_snapshot", "turn_result"], "serve"),
        ([], "unknown"),
    ],
)
def test_entry_point(hints: list[str], entry_point: str) -> None:
    log = SessionLog().prompt()
    for hint in hints:
        log.bookkeeping(hint)
    (found,) = EntryPoints("main", build_turns(log.records), ()).of_turns
    assert found[0] == entry_point


def test_a_turn_without_a_hint_is_taken_as_the_one_before() -> None:
    log = SessionLog().prompt().bookkeeping("attribution_snapshot").response(text=True)
    log.prompt("notification").response(text=True)
    found = EntryPoints("main", build_turns(log.records), ()).of_turns
    assert found == [("headless", "certain"), ("headless", "probable")]


def test_a_sub_agent_is_its_own_entry_point() -> None:
    assert EntryPoints("sub-agent", build_turns(SessionLog().prompt().records), ()).of_turns == [("sub-agent", "certain")]
