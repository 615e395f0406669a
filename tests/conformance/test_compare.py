"""The comparison finds each kind of difference: one that agrees with everything would prove nothing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conformance.compare import Comparison, compare
from tests.conformance.observed import SeenCall, SeenSession, SeenTurn
from tests.conformance.truth import RecordingTruth, TurnTruth

TRUTH = RecordingTruth(
    name="0.24.4/b_x.acp",
    entry_point="acp",
    turns=(
        TurnTruth((("ok",), ("dup", "err"), ("skip", "skip")), "stopped-visibly", tripped=True),
        TurnTruth((("open",),), "truncated", tripped=False),
    ),
    sub_agents=("GOAL",),
    loop_events=("global_tool_call_duplicate",),
)


def _agreeing() -> tuple[SeenSession, SeenSession]:
    first = SeenTurn(1, "user", "stopped-visibly", trips=1)
    first.batches = [
        [SeenCall("executed", "execute")],
        [SeenCall("suppressed", "suppress"), SeenCall("failed", "execute")],
        [SeenCall("skipped", "trip"), SeenCall("skipped", "drop")],
    ]
    second = SeenTurn(2, "user", "completed", trips=0)
    third = SeenTurn(3, "notification", "truncated", trips=0, batches=[[SeenCall("unanswered", "execute")]])
    parent = SeenSession("p", None, "acp", "truncated", [first, second, third], [("global_tool_call_duplicate", True)])
    inner = SeenTurn(1, "sub-agent", "completed", trips=0, batches=[[SeenCall("executed", "execute")]])
    return parent, SeenSession("p/agent-a", "p", "sub-agent", "completed", [inner])


def _compare(folder: Path, parent: SeenSession, child: SeenSession) -> Comparison:
    project = folder / TRUTH.name / "qwen-home" / "projects" / "x"
    for log in (project / "chats" / "p.jsonl", project / "chats" / "p.ledger.jsonl", project / "subagents/p/agent-a.jsonl"):
        log.parent.mkdir(parents=True, exist_ok=True)
        log.touch()
    return compare({"p": parent, "p/agent-a": child}, folder, [TRUTH])


def test_a_store_that_says_the_same_agrees(tmp_path: Path) -> None:
    comparison = _compare(tmp_path, *_agreeing())
    assert comparison.disagreements == []
    assert comparison.lines() == [
        "sessions: 1 of 1 agree",
        "calls: 6 of 6 agree",
        "decisions: 6 of 6 agree",
        "trips: 2 of 2 agree",
        "verdicts: 2 of 2 agree",
        "entry points: 1 of 1 agree",
        "loop events: 1 of 1 agree",
        "sub agent calls: 1 of 1 agree",
        "sub agent verdicts: 1 of 1 agree",
    ]


def _set_call(session: SeenSession, turn: int, response: int, call: SeenCall) -> None:
    session.turns[turn].batches[response][0] = call


CHANGES: dict[str, Callable[[SeenSession, SeenSession], object]] = {
    "outcome": lambda p, c: _set_call(p, 0, 0, SeenCall("failed", "execute")),
    "dropped without a trip": lambda p, c: _set_call(p, 2, 0, SeenCall("dropped", "execute")),
    "decision": lambda p, c: _set_call(p, 0, 1, SeenCall("suppressed", "execute")),
    "counterfactual decision": lambda p, c: _set_call(p, 0, 0, SeenCall("executed", "execute (counterfactual)")),
    "verdict": lambda p, c: setattr(p.turns[2], "verdict", "silent-hang"),
    "verdict of an earlier turn": lambda p, c: setattr(p.turns[1], "verdict", "truncated"),
    "trip": lambda p, c: setattr(p.turns[0], "trips", 0),
    "one trip too many": lambda p, c: setattr(p.turns[2], "trips", 1),
    "entry point": lambda p, c: setattr(p, "entry_point", "headless"),
    "loop event": lambda p, c: p.loop_events.clear(),
    "explanation of a loop event": lambda p, c: setattr(p, "loop_events", [("global_tool_call_duplicate", False)]),
    "missing call": lambda p, c: p.turns[0].batches[1].pop(),
    "further response": lambda p, c: p.turns[0].batches.append([SeenCall("executed", "execute")]),
    "missing turn": lambda p, c: p.turns.clear(),
    "sub-agent's verdict": lambda p, c: setattr(c, "verdict", "truncated"),
    "sub-agent's decision": lambda p, c: _set_call(c, 0, 0, SeenCall("executed", "suppress")),
    "missing sub-agent": lambda p, c: setattr(c, "parent_session_id", "q"),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_each_difference_is_found(tmp_path: Path, change: Callable[[SeenSession, SeenSession], object]) -> None:
    parent, child = _agreeing()
    change(parent, child)
    comparison = _compare(tmp_path, parent, child)
    assert comparison.disagreements
    assert comparison.sessions.agree == 0


def test_an_unknown_entry_point_does_not_agree_and_is_no_disagreement(tmp_path: Path) -> None:
    parent, child = _agreeing()
    parent.entry_point = "unknown"
    comparison = _compare(tmp_path, parent, child)
    assert str(comparison.entry_points) == "0 of 1"
    assert comparison.disagreements == []
