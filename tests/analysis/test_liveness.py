"""Which sessions can be judged before the corpus has said how long its tools take."""

from __future__ import annotations

import pytest

from analysis.analyse import analyse, analyse_early
from analysis.liveness import Liveness
from analysis.thresholds import DEFAULT_THRESHOLDS
from tests.support.session_log import START, SessionLog, call

QUICK = Liveness.from_corpus({"run_shell_command": 1, "read_file": 1})
SLOW = Liveness.from_corpus({"run_shell_command": 40_000, "read_file": 40_000})

ENDED = SessionLog().prompt().response(call("a")).answer("a").response(text=True)
KILLED_AND_RESUMED = SessionLog().prompt().response(call("a")).prompt().response(text=True)
MODEL_IS_ASKED = SessionLog().prompt().response(call("a")).answer("a")
CALLED_OFF_AT_ONCE = SessionLog().prompt().response(call("a")).answer("a", "cancelled").prompt().response(text=True)
OPEN_CALL = SessionLog().prompt().response(call("a"))
CALLED_OFF_AFTER_A_WAIT = SessionLog().prompt().response(call("a")).wait(minutes=5).answer("a", "cancelled").response(text=True)
CALLED_OFF_LATE = SessionLog().prompt().response(call("a")).wait(minutes=5).answer("a", "cancelled")


@pytest.mark.parametrize("log", [ENDED, KILLED_AND_RESUMED, MODEL_IS_ASKED, CALLED_OFF_AT_ONCE, CALLED_OFF_AFTER_A_WAIT])
def test_what_rests_on_no_tools_limit_is_found_early_and_as_with_any_corpus(log: SessionLog) -> None:
    early = analyse_early(log.facts())
    assert early is not None
    assert early == analyse(log.facts(), DEFAULT_THRESHOLDS, QUICK) == analyse(log.facts(), DEFAULT_THRESHOLDS, SLOW)


@pytest.mark.parametrize("log", [OPEN_CALL, CALLED_OFF_LATE])
def test_what_the_corpus_decides_is_not_found_early(log: SessionLog) -> None:
    assert analyse_early(log.facts()) is None
    assert analyse(log.facts(), DEFAULT_THRESHOLDS, QUICK) != analyse(log.facts(), DEFAULT_THRESHOLDS, SLOW)


def test_the_corpus_decides_when_silence_is_a_stall() -> None:
    """Three times the learnt seconds, and never under a minute."""
    for learnt, limit in ((QUICK, 60), (SLOW, 120_000)):
        turn = analyse(OPEN_CALL.facts(), DEFAULT_THRESHOLDS, learnt).turns[-1]
        assert turn.stale_at == START + (2 + limit) * 1_000_000
    assert analyse(CALLED_OFF_LATE.facts(), DEFAULT_THRESHOLDS, QUICK).turns[-1].verdict == "silent-hang"
    assert analyse(CALLED_OFF_LATE.facts(), DEFAULT_THRESHOLDS, SLOW).turns[-1].verdict == "cancelled"


@pytest.mark.parametrize("log", [ENDED, KILLED_AND_RESUMED, MODEL_IS_ASKED, OPEN_CALL, CALLED_OFF_LATE])
def test_each_turn_says_whether_another_corpus_could_change_it(log: SessionLog) -> None:
    quick, slow = (analyse(log.facts(), DEFAULT_THRESHOLDS, learnt).turns for learnt in (QUICK, SLOW))
    assert any(turn.rests_on_a_limit for turn in quick) == (quick != slow)
