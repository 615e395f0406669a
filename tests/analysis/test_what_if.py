"""Other settings of the built-in guards, each on a log on which it decides otherwise than the guard that it is made from."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from analysis.case_cut import decisions_of
from analysis.case_facts import CaseSession
from analysis.guard_case import CaseCall, CompactionStep, GuardCase, PromptStep, ResponseStep, Step
from analysis.guards.arguments import ArgumentsUnknown, no_source
from analysis.guards.base import NoSuchGuard
from analysis.guards.contender import Contender
from analysis.guards.load import load, offered_names
from analysis.guards.process import ProcessGuard
from analysis.guards.what_if import BadSettings
from analysis.trial import replayed
from ingest.records import Place

WITHOUT_GUARD = "0.15.10"
RUN, ANSWER, TRIP = ["execute"], ["suppress"], ["trip"]


def call(args: Any = "a", name: str = "shell", call_id: str = "x") -> Step:
    return ResponseStep([CaseCall(call_id, name, {"c": args} if isinstance(args, str) else args, "ok")])


def decided(spec: str, *steps: Step, entry_point: str = "headless", version: str = WITHOUT_GUARD) -> list[list[str]]:
    session = CaseSession(GuardCase(steps=[PromptStep(), *steps], entry_point=entry_point, client_version=version))
    contender = load("mine", spec, session.source, 10)
    try:
        return decisions_of(replayed(session.facts(), contender), "mine")
    finally:
        close(contender)


def close(contender: Contender) -> None:
    if isinstance(contender.guard, ProcessGuard):
        contender.guard.close()


def test_a_breaker_that_needs_more() -> None:
    steps = [call()] * 5
    assert decided("fingerprint", *steps) == [RUN, ANSWER, TRIP, ["not-reached"], ["not-reached"]]
    assert decided("fingerprint:threshold=2", *steps) == [RUN, ANSWER, ANSWER, TRIP, ["not-reached"]]
    assert decided("fingerprint:threshold=off", *steps) == [RUN, ANSWER, ANSWER, ANSWER, ANSWER]
    assert decided("id-only:threshold=1", *steps) == decided("id-breaker", *steps)


def test_what_makes_a_repeat() -> None:
    steps = [call("a"), call("b"), call("b")]
    assert decided("fingerprint:compare=id,threshold=off", *steps) == [RUN, ANSWER, ANSWER]
    assert decided("id-breaker:compare=first", *steps) == [RUN, RUN, RUN]
    assert decided("fingerprint:compare=any", *steps) == [RUN, RUN, ANSWER]


@pytest.mark.parametrize("compare", ["first", "any"])
def test_without_canonicalisation(compare: str) -> None:
    """The order of the keys and a tool's old name make another call; the same text is the same call."""
    other_order = [call({"a": 1, "b": 2}), call({"b": 2, "a": 1}), call({"b": 2, "a": 1})]
    assert decided(f"fingerprint:compare={compare}", *other_order) == [RUN, ANSWER, TRIP]
    expected = {"first": [RUN, RUN, RUN], "any": [RUN, RUN, ANSWER]}
    assert decided(f"fingerprint:canonical=off,compare={compare}", *other_order) == expected[compare]
    old_name = [call("a", "task"), call("a", "agent")]
    assert decided("fingerprint:canonical=on", *old_name) == [RUN, ANSWER]
    assert decided(f"fingerprint:canonical=off,compare={compare}", *old_name) == [RUN, RUN]
    # JavaScript has one kind of number, and array indices come first in its objects, sorted or not.
    numbers = [call({"b": 1.0, "1": 0}), call({"1": 0, "b": 1})]
    assert decided(f"fingerprint:canonical=off,compare={compare}", *numbers) == [RUN, ANSWER]


def test_without_the_log_raw_arguments_are_unknown() -> None:
    session = CaseSession(GuardCase(steps=[PromptStep(), call(), call(), call("other")], client_version=WITHOUT_GUARD))

    def gone(place: Place, fingerprint: bytes) -> object:
        raise ArgumentsUnknown("gone")

    contender = load("mine", "fingerprint:canonical=off", gone, 1)
    # Other fingerprints are other calls however they were written.
    assert decisions_of(replayed(session.facts(), contender), "mine") == [RUN, ["unknown"], RUN]


def test_what_counts_as_handled() -> None:
    compacted: list[Step] = [call(), CompactionStep([]), call()]
    assert decided("fingerprint", *compacted) == [RUN, ANSWER]  # headless keeps what it let through
    assert decided("fingerprint:scope=daemon", *compacted) == [RUN, RUN]
    assert decided("fingerprint", *compacted, entry_point="acp") == [RUN, RUN]
    for scope in ("headless", "tui", "turn", "session"):
        assert decided(f"fingerprint:scope={scope}", *compacted, entry_point="acp") == [RUN, ANSWER], scope
    next_turn: list[Step] = [call(), PromptStep(), call()]
    assert decided("fingerprint:scope=turn", *next_turn) == [RUN, RUN]
    assert decided("fingerprint:scope=session", *next_turn) == [RUN, ANSWER]
    over_both: list[Step] = [call(), CompactionStep([]), PromptStep(), call()]
    assert decided("fingerprint", *over_both) == [RUN, RUN]
    assert decided("fingerprint:scope=session", *over_both) == [RUN, ANSWER]


def test_when_answered_ids_are_forgotten() -> None:
    """Under a guard in force that answered it, as a daemon's log has it."""
    answered = ResponseStep([CaseCall("x", "shell", {"c": "a"}, "duplicate")])

    def over(origin: Any, spec: str, entry_point: str) -> list[str]:
        steps: list[Step] = [call(), answered, PromptStep(origin), call()]
        return decided(spec, *steps, entry_point=entry_point, version="0.24.4")[-1]

    assert over("user", "fingerprint", "acp") == ANSWER
    assert over("user", "fingerprint:clears=never", "acp") == TRIP
    assert over("cron", "fingerprint", "acp") == TRIP
    assert over("cron", "fingerprint:clears=prompt", "acp") == ANSWER
    assert over("cron", "fingerprint", "headless") == ANSWER
    assert over("cron", "fingerprint:clears=user-prompt", "headless") == TRIP


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("fingerprint:threshold", "is no setting: write KEY=VALUE"),
        ("fingerprint:threshold=0", "a whole number from 1, or off"),
        ("fingerprint:scope=world", "scope=world: one of entry-point, headless, tui, daemon, turn, session"),
        ("fingerprint:colour=red", "there is no setting 'colour'"),
        ("id-breaker:canonical=off", "an id has no arguments"),
        ("none:threshold=2", "none has no settings"),
    ],
)
def test_a_setting_that_makes_no_sense(spec: str, message: str) -> None:
    with pytest.raises((BadSettings, NoSuchGuard), match=message):
        load("mine", spec, no_source, 1)


def test_a_stock_guard_under_another_name_decides_alike() -> None:
    steps = [call(), call(), call("b")]
    assert decided("none", *steps) == [RUN, RUN, RUN]
    assert decided("args-dedup", *steps) == [RUN, RUN, RUN]


class TestPython:
    def test_a_class_or_an_object_of_a_file(self, tmp_path: Path) -> None:
        file = tmp_path / "guards.py"
        file.write_text(
            "class Never:\n"
            "    'blocks everything'\n"
            "    def decide(self, batch, handled, answered):\n"
            "        return ['suppress'] * len(batch.calls)\n"
            "never = Never()\n"
        )
        for name in ("Never", "never"):
            contender = load("mine", f"{file}:{name}", no_source, 10)
            close(contender)
            assert (contender.name, contender.guard.about, contender.source) == ("mine", "blocks everything", f"{file}:{name}")
            assert decided(f"{file}:{name}", call(), call()) == [ANSWER, ANSWER]

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("x = 1", "holds no 'Guard'"),
            ("class Guard: pass", "has no method decide"),
            ("raise OSError('broken')", "cannot be loaded: OSError: broken"),
            ("class Guard:\n    def __init__(self, wanted): pass", "cannot be made without arguments"),
        ],
    )
    def test_a_file_without_a_guard(self, text: str, message: str, tmp_path: Path) -> None:
        file = tmp_path / "guards.py"
        file.write_text(text)
        with pytest.raises(NoSuchGuard, match=message):
            load("mine", f"{file}:Guard", no_source, 10)
        with pytest.raises(NoSuchGuard, match="there is no Python file"):
            load("mine", f"{tmp_path}/none.py:Guard", no_source, 10)

    def test_a_guard_of_an_installed_package(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        info = tmp_path / "team_guards-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: team-guards\nVersion: 1.0\n")
        points = ("team = team_guards:Team", "broken = team_guards:nothing")
        (info / "entry_points.txt").write_text("\n".join(["[loopscope.guards]", *points]))
        (tmp_path / "team_guards.py").write_text(
            "class Team:\n    def decide(self, batch, handled, answered):\n        return ['suppress'] * len(batch.calls)\n"
        )
        monkeypatch.syspath_prepend(tmp_path)
        assert offered_names() == {"team", "broken"}
        contender = load("mine", "team", no_source, 10)
        close(contender)
        assert (contender.name, contender.source) == ("mine", "loopscope.guards: team_guards:Team")
        assert decided("team", call()) == [ANSWER]
        with pytest.raises(NoSuchGuard, match="team_guards:nothing cannot be loaded: AttributeError"):
            load("mine", "broken", no_source, 10)
