"""Cards: the report that they come from, the causes of a second card, what is stuck and what is not, what each remedy costs."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from analysis.analyse import analyse
from analysis.card_log import interfaces
from analysis.card_replay import AS_IT_IS, REMEDIES, SEARCHES, replay
from analysis.findings import CardRemedyRow, CardRow, SessionFindings
from analysis.fingerprint import fingerprint
from ingest.readers.card_events import CardEventsReader
from ingest.records import CardEvent, SessionFacts
from tests.support.card_events import CardLog
from tests.support.session_log import SessionLog, call

EXAMPLE = Path(__file__).parents[2] / "data/cards/two-cards-one-id.ndjson"
P, Q = {"path": "p"}, {"path": "q"}


def cards(found: SessionFindings, search: str = "reverse") -> list[CardRow]:
    return [row for row in found.cards if row.search == search]


def states(found: SessionFindings, search: str = "reverse") -> list[tuple[str, int]]:
    return [(row.state, row.result_lines) for row in cards(found, search)]


def causes(log: CardLog) -> list[tuple[str | None, bool]]:
    return [(one.cause, one.cause_is_certain) for one in next(interfaces(log.events)).announcements]


def remedies(found: SessionFindings, search: str = "reverse") -> dict[str, CardRemedyRow]:
    return {row.remedy: row for row in found.card_remedies if row.search == search}


def shown(found: SessionFindings, search: str = "reverse") -> dict[str, tuple[int, int, int, int]]:
    """By remedy: cards, waiting for ever, genuine calls swallowed, calls run again."""
    return {name: (row.cards, row.waiting, row.swallowed_calls, row.run_again) for name, row in remedies(found, search).items()}


@pytest.fixture(scope="module")
def found() -> SessionFindings:
    """The report, from its log."""
    reader = CardEventsReader(str(EXAMPLE), fingerprint)
    rows = [*reader.feed(EXAMPLE.read_bytes()), *reader.finish()]
    return analyse(
        SessionFacts(
            session_id="two-cards-one-id",
            kind="main",
            parent_session_id=None,
            client="desktop",
            records=(),
            events=(),
            cards=tuple(row for row in rows if isinstance(row, CardEvent)),
        )
    )


class TestTheReport:
    """One card with 0 lines still running, one completed with 183 lines, same id (CASES A11)."""

    def test_it_is_reproduced(self, found: SessionFindings) -> None:
        assert [(row.card_id, row.state, row.result_lines) for row in cards(found)] == [
            ("t1", "running", 0),
            ("t1", "completed", 183),
        ]
        assert [(row.card_id, row.state, row.result_lines) for row in cards(found, "forward")] == [
            ("t1", "completed", 183),
            ("t1", "running", 0),
        ]

    def test_two_stream_indexes_carry_the_id(self, found: SessionFindings) -> None:
        assert [(row.cause, row.cause_is_certain) for row in cards(found)] == [("same-response", True)] * 2

    def test_the_waiting_card_is_stuck_and_it_is_no_hang(self, found: SessionFindings) -> None:
        assert [row.is_stuck for row in cards(found)] == [True, False]
        assert cards(found)[0].reason == "its result (183 lines) went to another card of its id"
        (finding,) = found.findings
        assert (finding.kind, finding.confidence) == ("stuck-card", "certain")
        assert finding.evidence == [f"{EXAMPLE}:7"]
        assert (found.session, found.turns, found.calls) == (None, [], [])

    def test_what_each_remedy_would_have_shown(self, found: SessionFindings) -> None:
        assert shown(found) == {
            "none": (2, 1, 0, 0),
            "start-once-per-id": (1, 0, 0, 0),
            "start-once-per-round": (1, 0, 0, 0),
            "dedup-by-id": (1, 0, 0, 0),
            "placeholder-ids": (2, 0, 0, 1),
        }
        assert {name: row.loses for name, row in remedies(found).items() if row.loses} == {
            "placeholder-ids": "runs 1 call a second time that ran once; what they answer is in no log"
        }
        assert cards(found)[0].fixed_by == [remedy.name for remedy in REMEDIES]
        assert cards(found)[1].fixed_by == []

    def test_a_forward_search_leaves_the_copy_waiting_and_no_placeholder_is_known_to_end_it(
        self, found: SessionFindings
    ) -> None:
        first, copy = cards(found, "forward")
        assert first.ends_right
        assert copy.fixed_by == ["start-once-per-id", "start-once-per-round", "dedup-by-id"]


class TestCauses:
    def test_a_later_response_uses_the_id_again(self) -> None:
        log = CardLog().round().start("t1", P).completed("t1").round().start("t1", P).completed("t1")
        assert causes(log) == [(None, False), ("cross-round", True)]

    def test_without_rounds_a_result_in_between_says_so_less_surely(self) -> None:
        log = CardLog().start("t1", P).completed("t1").start("t1", P).completed("t1")
        assert causes(log) == [(None, False), ("cross-round", False)]

    def test_one_stream_index_and_two_starts(self) -> None:
        log = CardLog().round().delta(0, "t1").delta(1, "t2").start("t1", P).start("t1", P).start("t2", Q)
        assert causes(log) == [(None, False), ("re-emitted", True), (None, False)]

    def test_a_response_streamed_again_after_an_error_has_no_more_calls_for_it(self) -> None:
        log = CardLog().round().delta(0, "t1", "first").delta(0, "t1", "second").start("t1", P).start("t1", P)
        assert causes(log) == [(None, False), ("re-emitted", True)]

    def test_two_indexes_and_three_starts(self) -> None:
        log = CardLog().round().delta(0, "t1").delta(1, "t1").start("t1", P).start("t1", Q).start("t1", P)
        assert [cause for cause, _ in causes(log)] == [None, "same-response", "re-emitted"]

    def test_without_a_stream_log_equal_starts_are_one_call_told_twice(self) -> None:
        assert causes(CardLog().round().start("t1", P).start("t1", P).completed("t1")) == [(None, False), ("re-emitted", False)]

    def test_without_a_stream_log_other_arguments_or_a_result_each_are_two_calls(self) -> None:
        assert causes(CardLog().round().start("t1", P).start("t1", Q))[1] == ("same-response", False)
        both_ran = CardLog().round().start("t1", P).start("t1", P).completed("t1").completed("t1")
        assert causes(both_ran)[1] == ("same-response", False)

    @pytest.mark.parametrize("missing", [None, "", "null", "undefined"])
    def test_no_id(self, missing: str | None) -> None:
        log = CardLog().round().start(missing, P).start(missing, Q).completed(missing).completed(missing)
        assert causes(log) == [(None, False), ("missing-id", True)]

    def test_an_id_of_the_clients_own_in_place_of_a_missing_one(self) -> None:
        """CASES A18: only the first parallel call has an id, and the client puts that one in for the others."""
        log = CardLog().round().delta(0, "c1").delta(1, None).delta(2, "").start("c1", P).start("c1", Q).start("c1", Q)
        assert [cause for cause, _ in causes(log)] == [None, "missing-id", "missing-id"]

    def test_one_call_told_while_it_is_streamed_is_one_card(self) -> None:
        """CASES B9 (lettabot#199): 189 starts of one id with growing arguments; two calls in all."""
        log, args = CardLog().round(), '{"command":"' + "x" * 186
        for length in range(12, 12 + 186):
            log.start("call_a", args[:length])
        log.start("call_a", args + '"}').completed("call_a").start("call_b", P).completed("call_b")
        first, second = cards(log.found())
        assert (first.starts, first.state, first.cause) == (187, "completed", None)
        assert (second.starts, second.state) == (1, "completed")
        assert log.found().findings == []

    def test_what_grows_with_two_indexes_in_the_stream_is_two_calls(self) -> None:
        log = CardLog().round().delta(0, "t1").delta(1, "t1").start("t1", {}).start("t1", P)
        assert causes(log)[1] == ("same-response", True)


class TestStuck:
    def test_a_card_that_waits_when_the_log_ends_is_not_stuck(self) -> None:
        found = CardLog().round().start("t1", P).found()
        assert [(row.is_stuck, row.reason) for row in cards(found)] == [(False, "the log ends while it waits")]
        assert found.findings == []

    def test_a_card_is_stuck_once_the_turn_has_ended(self) -> None:
        found = CardLog(surface="acp").start("t1", P, status="pending").turn_ended().found()
        assert [(row.state, row.is_stuck, row.cause) for row in cards(found)] == [("pending", True, None)]
        assert "end_turn" in (cards(found)[0].reason or "")
        assert [finding.kind for finding in found.findings] == ["stuck-card"]

    def test_an_end_before_the_card_says_nothing_of_it(self) -> None:
        found = CardLog(surface="acp").turn_ended().start("t1", P, status="pending").found()
        assert [row.is_stuck for row in cards(found)] == [False]

    def test_a_card_is_stuck_once_the_next_response_has_begun(self) -> None:
        found = CardLog().round().start("t1", P).start("t2", Q).completed("t2").round().found()
        assert [(row.card_id, row.is_stuck) for row in cards(found)] == [("t1", True), ("t2", False)]

    def test_a_session_told_again_is_another_interface(self) -> None:
        found = CardLog().start("t1", P).reset().start("t1", P).completed("t1").found()
        assert [(row.interface_no, row.card_no, row.state, row.cause) for row in cards(found)] == [
            (1, 1, "running", None),
            (2, 1, "completed", None),
        ]

    def test_a_card_that_is_known_by_its_updates_alone(self) -> None:
        """The beginning of the log is lost: a card, but no start of it."""
        found = CardLog(surface="acp").update("t1", "in_progress").completed("t1", 3).found()
        assert [(row.starts, row.state, row.result_lines, row.ends_right) for row in cards(found)] == [
            (0, "completed", 3, True)
        ]

    def test_a_call_taken_back_and_told_again(self) -> None:
        """Recording f2_handled_twice_in_batch: both cards end, and the second telling is the call."""
        found = CardLog(surface="acp").start("t1").discarded("t1").start("t1").completed("t1", 4).found()
        assert [(row.state, row.result_lines, row.cause, row.ends_right) for row in cards(found)] == [
            ("failed", 0, None, True),
            ("completed", 4, "re-emitted", True),
        ]
        assert shown(found)["start-once-per-id"] == (1, 0, 0, 0)
        assert shown(found)["dedup-by-id"] == (1, 0, 1, 0)


class TestTheBreaker:
    """The daemon of 0.21 drops a batch and tells nobody: its cards wait for ever, and that is the trip's doing."""

    def _found(self) -> SessionFindings:
        log = SessionLog(version="0.21.10").prompt().bookkeeping("file_history_snapshot")
        log.response(call("x", {"command": "a"})).answer("x")
        log.response(call("x__qwen_dup_2", {"command": "b"})).answer("x__qwen_dup_2", "duplicate", quoted_id="x")
        log.records[-1] = replace(log.records[-1], guard_hint="id-breaker")
        log.response(call("x__qwen_dup_3", {"command": "c"}), call("y", {"command": "d"}, part=1))
        told = CardLog("/logs/acp.jsonl", "acp")
        told.start("x").completed("x").start("x__qwen_dup_2").completed("x__qwen_dup_2", status="failed")
        told.start("x__qwen_dup_3", status="pending").start("y", status="pending").turn_ended()
        facts = log.facts()
        return analyse(
            SessionFacts(
                session_id=facts.session_id,
                kind="main",
                parent_session_id=None,
                client=facts.client,
                records=facts.records,
                events=tuple(told.ends),
                cards=tuple(told.events),
            )
        )

    def test_its_cards_are_linked_to_the_trip(self) -> None:
        found = self._found()
        assert [(row.card_id, row.state, row.cause, row.is_stuck) for row in cards(found)] == [
            ("x", "completed", None, False),
            ("x__qwen_dup_2", "failed", None, False),
            ("x__qwen_dup_3", "pending", "breaker", True),
            ("y", "pending", "breaker", True),
        ]
        assert [(row.trip_guard, row.trip_turn_no, row.trip_response_no) for row in cards(found)[2:]] == [
            ("id-breaker", 1, 3)
        ] * 2
        assert [(row.turn_no, row.response_no, row.call_no) for row in cards(found)] == [
            (1, 1, 1),
            (1, 2, 1),
            (1, 3, 1),
            (1, 3, 2),
        ]

    def test_no_remedy_ends_them_and_the_hang_is_told_once(self) -> None:
        found = self._found()
        assert [row.fixed_by for row in cards(found)] == [[], [], [], []]
        assert [row.waiting for row in found.card_remedies] == [2] * 10
        assert "stuck-card" not in {finding.kind for finding in found.findings}
        assert [turn.verdict for turn in found.turns] == ["silent-hang"]

    def test_cards_make_no_calls(self) -> None:
        assert len(self._found().calls) == 4


class TestRemedies:
    def test_a_later_response_is_swallowed_by_whatever_goes_by_the_id_alone(self) -> None:
        found = CardLog().round().start("t1", P).completed("t1", 3).round().start("t1", Q).completed("t1", 5).found()
        assert states(found) == [("completed", 3), ("completed", 5)]
        assert shown(found) == {
            "none": (2, 0, 0, 0),
            "start-once-per-id": (1, 0, 1, 0),
            "start-once-per-round": (2, 0, 0, 0),
            "dedup-by-id": (1, 0, 1, 0),
            "placeholder-ids": (2, 0, 0, 0),
        }
        told = remedies(found)
        assert told["start-once-per-id"].loses == (
            "swallows 1 genuine call: 1 of a later response; not shown, and their results overwrite another card's"
        )
        assert told["dedup-by-id"].loses == "swallows 1 genuine call: 1 of a later response; neither shown nor run"
        # What is left of two results is the second on the first one's card; dropped behind it, the first at least is right.
        assert (told["start-once-per-id"].wrong, told["dedup-by-id"].wrong) == (2, 1)

    def test_a_forward_search_needs_ids_that_are_unique(self) -> None:
        found = CardLog().round().start("t1", P).completed("t1", 3).round().start("t1", Q).completed("t1", 5).found()
        assert states(found, "forward") == [("completed", 5), ("running", 0)]
        assert [row.reason for row in cards(found, "forward")] == [
            "it shows the result of another call of its id",
            "its result (5 lines) went to another card of its id",
        ]
        assert [row.fixed_by for row in cards(found, "forward")] == [["dedup-by-id", "placeholder-ids"], ["placeholder-ids"]]

    def test_two_calls_of_one_response(self) -> None:
        """Both ran: both results reach the last card, and every remedy but an id of their own swallows the second."""
        log = CardLog().round().delta(0, "t1").delta(1, "t1").start("t1", P).start("t1", Q)
        found = log.completed("t1", 3).completed("t1", 5).round().found()
        assert states(found) == [("running", 0), ("completed", 5)]
        assert shown(found) == {
            "none": (2, 1, 0, 0),
            "start-once-per-id": (1, 0, 1, 0),
            "start-once-per-round": (1, 0, 1, 0),
            "dedup-by-id": (1, 0, 1, 0),
            "placeholder-ids": (2, 0, 0, 0),
        }
        assert cards(found)[0].fixed_by == ["dedup-by-id", "placeholder-ids"]

    def test_one_call_told_twice_is_no_matter_of_ids(self) -> None:
        found = CardLog().round().delta(0, "t1").start("t1", P).start("t1", P).completed("t1", 9).found()
        assert states(found) == [("running", 0), ("completed", 9)]
        assert shown(found) == {
            "none": (2, 1, 0, 0),
            "start-once-per-id": (1, 0, 0, 0),
            "start-once-per-round": (1, 0, 0, 0),
            "dedup-by-id": (1, 0, 0, 0),
            "placeholder-ids": (2, 1, 0, 0),
        }
        assert cards(found)[0].fixed_by == ["start-once-per-id", "start-once-per-round", "dedup-by-id"]

    def test_calls_without_ids_need_placeholders(self) -> None:
        found = CardLog().round().start("", P).start("", Q).completed("", 3).completed("", 5).found()
        assert states(found) == [("running", 0), ("completed", 5)]
        assert shown(found) == {
            "none": (2, 1, 0, 0),
            "start-once-per-id": (1, 0, 1, 0),
            "start-once-per-round": (1, 0, 1, 0),
            "dedup-by-id": (1, 0, 1, 0),
            "placeholder-ids": (2, 0, 0, 0),
        }
        assert "1 without an id" in (remedies(found)["start-once-per-id"].loses or "")


_IDS = ("a", "b", "", None)
_steps = st.lists(
    st.one_of(
        st.tuples(st.just("start"), st.sampled_from(_IDS), st.sampled_from((P, Q))),
        st.tuples(st.just("completed"), st.sampled_from(_IDS), st.just(None)),
        st.tuples(st.just("discarded"), st.sampled_from(_IDS), st.just(None)),
        st.tuples(st.just("round"), st.just(None), st.just(None)),
        st.tuples(st.just("reset"), st.just(None), st.just(None)),
    ),
    max_size=25,
)


def _log(steps: list[tuple[str, str | None, dict[str, str] | None]]) -> CardLog:
    log = CardLog()
    for step, card_id, args in steps:
        match step:
            case "start":
                log.start(card_id, args)
            case "completed":
                log.completed(card_id)
            case "discarded":
                log.discarded(card_id)
            case "round":
                log.round()
            case "reset":
                log.reset()
    return log


@given(_steps)
def test_no_remedy_shows_more_cards_than_there_were_starts(steps: list[tuple[str, str | None, dict[str, str] | None]]) -> None:
    for interface in interfaces(_log(steps).events):
        announced = len(interface.announcements)
        ids = {one.card_id for one in interface.announcements}
        for search in SEARCHES:
            assert len(replay(interface, AS_IT_IS, search).cards) == announced
            by_name = {remedy.name: replay(interface, remedy, search) for remedy in REMEDIES}
            assert len(by_name["start-once-per-id"].cards) == len(by_name["dedup-by-id"].cards) == len(ids)
            assert len(ids) <= len(by_name["start-once-per-round"].cards) <= announced
            for outcome in by_name.values():
                assert len(outcome.cards) + len(outcome.swallowed) <= announced
                assert outcome.wrong + len(outcome.right) <= announced


@given(_steps)
def test_ids_of_their_own_show_every_call_its_own_result(steps: list[tuple[str, str | None, dict[str, str] | None]]) -> None:
    (placeholder,) = (remedy for remedy in REMEDIES if remedy.renames)
    for interface in interfaces(_log(steps).events):
        if any(one.cause == "re-emitted" for one in interface.announcements):
            continue
        for search in SEARCHES:
            right = replay(interface, placeholder, search).right
            assert {no for no, one in enumerate(interface.announcements) if one.is_call and one.has_ended} <= right


@given(_steps)
def test_a_card_more_at_the_end_changes_none_before_it(steps: list[tuple[str, str | None, dict[str, str] | None]]) -> None:
    """A new id's card, told and ended, in the same response."""
    before = cards(_log(steps).found())
    after = cards(_log([*steps, ("start", "new", P), ("completed", "new", None)]).found())
    assert after[: len(before)] == before
    assert [row.card_id for row in after[len(before) :]] == ["new"]
