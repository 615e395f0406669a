"""A session in which no id comes twice is not walked, and nobody can tell: each guard decides as it does when it is asked."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from analysis.guards import BUILT_IN, GUARDS, Contender
from analysis.history import Walk
from analysis.new_ids import batches_of_new_ids
from analysis.trial import replayed
from analysis.turn_state import TurnState
from ingest.records import Compaction, HistoryEntry, Place
from tests.support.session_log import SessionLog, call

ASKED_ALWAYS = [Contender(one.guard, "as if it were not ours") for one in BUILT_IN]
VERSIONS = ("0.15.10", "0.21.10", "0.22.0", "0.24.4")

new_ids = st.just("new")
"""Stands for an id that no call had before."""
ids = st.one_of(new_ids, new_ids, new_ids, st.sampled_from(("a", "b", "a__qwen_dup_2", "a:duplicate:1:0", "", "null", None)))
calls = st.tuples(
    ids, st.integers(0, 3), st.sampled_from(("tool", "tool", "tool", "cancelled", "interrupted", "duplicate", None))
)
entries = st.lists(
    st.tuples(st.sampled_from(("call", "answer")), st.sampled_from(("a", "b", "a__qwen_dup_2", None))), max_size=4
)
steps = st.lists(
    st.one_of(
        st.tuples(st.just("response"), st.lists(calls, min_size=1, max_size=3)),
        st.tuples(st.just("response"), st.lists(calls, min_size=1, max_size=3)),
        st.tuples(st.just("prompt"), st.none()),
        st.tuples(st.just("orphan"), st.sampled_from(("a", "b"))),
        st.tuples(st.just("compaction"), entries),
    ),
    max_size=12,
)


def _log(version: str, steps: Sequence[tuple[str, Any]]) -> SessionLog:
    log, number = SessionLog(version=version).prompt(), count(1)
    for kind, what in steps:
        if kind == "prompt":
            log.prompt()
        elif kind == "orphan":
            log.answer(what)
        elif kind == "compaction":
            kept = tuple(HistoryEntry(entry, recorded, "read_file", b"f" * 32) for entry, recorded in what)
            log.records.append(Compaction(place=Place("log.jsonl", 0, 1, 1), session_id="s", entries=kept))
        else:
            named = [(f"id_{next(number)}" if own == "new" else own, args, answer) for own, args, answer in what]
            log.response(*(call(own, {"n": args} if args else None, part=part) for part, (own, args, _) in enumerate(named)))
            for own, _, answer in named:
                if answer is not None:
                    log.answer(own, answer)
    return log


def _found(states: Sequence[TurnState]) -> list[Any]:
    return [
        (
            [
                (one.call_class, one.class_reason, one.outcome, one.of_batch.provider_id, one.of_batch.id_source)
                for one in state.calls
            ],
            [
                (decided.exceptions, decided.divergence, decided.trip and decided.trip.call.call.no)
                for decided in (state.decided_by(guard.name) for guard in GUARDS)
            ],
        )
        for state in states
    ]


@given(st.sampled_from(VERSIONS), steps)
def test_guards_decide_as_if_each_had_been_asked(version: str, steps: list[tuple[str, Any]]) -> None:
    facts = _log(version, steps).facts()
    assert _found(replayed(facts, *BUILT_IN)) == _found(replayed(facts, *ASKED_ALWAYS))


ONE = SessionLog().prompt().response(call("a")).answer("a")


@pytest.mark.parametrize(
    ("log", "is_walked"),
    [
        (ONE, False),
        (_log("0.24.4", [("response", [("a", 0, "tool"), (None, 0, None), ("b", 0, None)])]), False),
        (_log("0.24.4", [("response", [("a", 0, "tool")]), ("compaction", [("call", "a"), ("answer", "a")])]), False),
        (_log("0.24.4", [("response", [("a", 0, "tool")]), ("response", [("a", 1, "tool")])]), True),
        (_log("0.24.4", [("response", [("a", 0, "tool"), ("a", 1, "tool")])]), True),
        (_log("0.24.4", [("response", [("a", 0, "tool")]), ("response", [("a__qwen_dup_2", 1, "tool")])]), True),
        (_log("0.24.4", [("compaction", [("call", "a"), ("answer", "a")]), ("response", [("a", 0, "tool")])]), True),
        (_log("0.24.4", [("orphan", "a"), ("response", [("a", 0, "tool")])]), True),
        (_log("0.24.4", [("response", [("a", 0, "duplicate")])]), True),
    ],
)
def test_what_is_walked(log: SessionLog, is_walked: bool) -> None:
    states = replayed(log.facts(), *BUILT_IN)
    assert (batches_of_new_ids(Walk("s", "qwen-code"), states) is None) == is_walked


def test_a_provider_id_of_its_own_counts_as_one() -> None:
    """The log tells the two apart: the recorded ids are new, the provider's is not."""
    log = SessionLog().prompt()
    for own in ("a", "b"):
        log.response(replace(call(own), provider_id="same")).answer(own)
    states = replayed(log.facts(), *BUILT_IN)
    assert [one.call_class for one in states[0].calls] == ["first-use", "replay"]
    assert batches_of_new_ids(Walk("s", "qwen-code"), states) is None
