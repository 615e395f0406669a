"""The conformance kit: what it says of guards whose rules are known, and that each rule can be broken."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from analysis.guards import Answered, Decision
from analysis.guards.arguments import Source
from analysis.guards.checked import PythonGuard
from analysis.guards.contender import Contender
from analysis.guards.load import load
from analysis.guards.process import CannotStart
from analysis.history import Batch, Handled
from analysis.kit import RULE_IDS, play_kit

GUARDS_OF_OURS = Path(__file__).parents[2] / "data" / "guards"


def broken(spec: str, seconds: float = 5) -> dict[str, str]:
    results = list(play_kit(lambda source: load("checked", spec, source, seconds)))
    assert tuple(sorted(one.rule.id for one in results)) == tuple(sorted(RULE_IDS))
    return {one.rule.id: one.why_not or "" for one in results if not one.kept}


@pytest.mark.parametrize(
    ("spec", "rules"),
    [
        ("any-fingerprint", set()),
        ("fingerprint", {"later-counts"}),
        ("id-breaker", {"collision-runs", "other-tool-runs", "first-counts", "later-counts"}),
        ("fingerprint:threshold=2", {"second-repeat-trips", "trip-drops-batch", "later-counts"}),
        ("fingerprint:clears=never", {"prompt-forgives", "later-counts"}),
        ("fingerprint:canonical=off", {"key-order", "old-names", "later-counts"}),
    ],
)
def test_what_the_built_in_guards_keep(spec: str, rules: set[str]) -> None:
    """By their definitions. (The history of the scripts is one that ran every call, so nothing answered is carried over.)"""
    if "clears" in spec:
        rules = rules - {"prompt-forgives"}
    assert set(broken(spec)) == rules


def test_no_guard_keeps_what_every_guard_must() -> None:
    results = list(play_kit(lambda source: load("checked", "none", source, 5)))
    assert all(one.kept for one in results if one.rule.kind == "must")


class Blocks:
    def decide(self, batch: Batch, handled: Handled, answered: Answered) -> Sequence[Decision]:
        return ["suppress"] * len(batch.calls)


class RemembersOverSessions:
    """The fault of a guard that keeps its ids in a global."""

    def __init__(self) -> None:
        self.seen: set[str] = set()

    def decide(self, batch: Batch, handled: Handled, answered: Answered) -> Sequence[Decision]:
        decisions: list[Decision] = []
        for call in batch.calls:
            is_old = call.provider_id in self.seen
            decisions.append("suppress" if is_old else "execute")
            self.seen |= {call.provider_id} if call.provider_id is not None else set()
        return decisions


class Raises:
    def decide(self, batch: Batch, handled: Handled, answered: Answered) -> Sequence[Decision]:
        raise KeyError("fingerprint")


class Counts:
    def decide(self, batch: Batch, handled: Handled, answered: Answered) -> Sequence[Decision]:
        return ["execute"]


def _broken(guard: type) -> dict[str, str]:
    def make(source: Source) -> Contender:
        return Contender(PythonGuard("mine", "", guard()), "here")

    return {one.rule.id: one.why_not or "" for one in play_kit(make) if not one.kept}


def test_each_rule_for_all_can_be_broken() -> None:
    assert {"answers", "new-ids-run", "no-id-runs", "long-arguments", "odd-text", "sessions-apart"} <= set(_broken(Blocks))
    assert "sessions-apart" in _broken(RemembersOverSessions)
    assert "new-ids-run" not in _broken(RemembersOverSessions)
    assert _broken(Counts)["answers"] == "1 decisions for 2 calls"
    assert _broken(Raises)["answers"].startswith("it raised KeyError: 'fingerprint' (")


def test_our_guard_in_javascript_keeps_the_rules_of_the_shipped_one() -> None:
    node = node_or_skip()
    spec = shlex.join([node, str(GUARDS_OF_OURS / "fingerprint-guard.mjs")])
    assert set(broken(spec)) == {"later-counts"}


def node_or_skip() -> str:
    """CI has Node; elsewhere it may be missing."""
    node = shutil.which("node")
    if node is None and "CI" not in os.environ:
        pytest.skip("needs node")
    assert node is not None, "CI must have node"
    return node


def _program(tmp_path: Path, body: str) -> str:
    file = tmp_path / "guard.py"
    file.write_text(
        "import json, sys, time\n"
        "say = lambda message: print(json.dumps(message), flush=True)\n"
        "for line in sys.stdin:\n"
        "    m = json.loads(line)\n"
        "    if m['type'] == 'hello':\n"
        "        say({'type': 'hello', 'protocol': 1})\n"
        "    elif m['type'] == 'batch':\n"
        "        run = ['execute'] * len(m['calls'])\n"
        "        say({'type': 'decisions', 'session': m['session'], 'batch': m['batch'], 'decisions': run})\n"
        f"{body}\n"
    )
    return shlex.join([sys.executable, str(file)])


def test_one_that_answers_what_it_was_not_asked(tmp_path: Path) -> None:
    spec = _program(tmp_path, "    elif m['type'] not in ('session', 'prompt', 'end'): say({'type': 'what?'})")
    assert {"note-ignored"} == {rule for rule in broken(spec) if rule in ("note-ignored", "ends", "answers", "hello")}


def test_one_that_does_not_end(tmp_path: Path) -> None:
    spec = _program(tmp_path, "time.sleep(60)")
    results = list(play_kit(lambda source: load("checked", spec, source, 5), only=("ends",)))
    assert [(one.rule.id, one.why_not) for one in results] == [("hello", None), ("ends", "it had to be killed")]


def test_one_that_never_says_hello_is_not_played() -> None:
    results = broken(f"{sys.executable} -c 'import time; time.sleep(60)'", seconds=0.2)
    assert set(results) == set(RULE_IDS)
    assert results["hello"] == "no answer within 0.4 s"
    assert results["odd-text"] == "not played without a hello"


def test_no_program() -> None:
    with pytest.raises(CannotStart, match="/no/such/guard cannot be started"):
        broken("/no/such/guard --please")


def test_every_rule_has_a_name_of_its_own() -> None:
    assert len(set(RULE_IDS)) == len(RULE_IDS)
    assert json.dumps(RULE_IDS).isascii()
