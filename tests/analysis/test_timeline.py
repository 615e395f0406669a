"""The live branch, turns, and which result answers which call."""

from __future__ import annotations

from msgspec.structs import replace

from analysis.timeline import build_turns, live_branch
from ingest.records import AnyRecord
from tests.support.session_log import SessionLog, call


def _records(log: SessionLog) -> list[AnyRecord]:
    return log.records


def test_a_rewound_branch_is_dead() -> None:
    log = SessionLog().prompt().response(call("call_1", {"command": "a"})).answer("call_1").response(text=True)
    log.prompt().response(call("call_1", {"command": "b"})).answer("call_1").response(text=True)
    records = _records(log)
    # the second prompt hangs on the first one's parent: the turn between was rewound
    records[4] = replace(records[4], parent_uuid=None)
    live, dead = live_branch(records)
    assert [record.uuid for record in live] == ["u5", "u6", "u7", "u8"]
    assert [record.uuid for record in dead] == ["u1", "u2", "u3", "u4"]


def test_a_lost_parent_does_not_lose_what_came_before() -> None:
    log = SessionLog().prompt().response(call("call_1")).answer("call_1").response(text=True)
    records = _records(log)
    del records[2]  # a damaged line: the final answer's parent is gone
    live, dead = live_branch(records)
    assert [record.uuid for record in live] == ["u1", "u2", "u4"]
    assert dead == []


def test_a_line_that_answers_several_calls_lives_as_a_whole() -> None:
    """Its records have one uuid, as the reader makes them: each answer counts, and so does what the line hangs on."""
    log = SessionLog().prompt().response(call("call_1"), call("call_2", part=1)).answer("call_1").answer("call_2")
    log.response(text=True)
    records = _records(log)
    records[3] = replace(records[3], uuid="u3", parent_uuid="u2")
    records[4] = replace(records[4], parent_uuid="u3")
    live, dead = live_branch(records)
    assert (live, dead) == (records, [])
    (turn,) = build_turns(live)
    assert [c.result.place.line if c.result else None for c in turn.calls] == [3, 4]


def test_a_repeated_id_pairs_each_result_with_its_own_call() -> None:
    """0.15.10 logs a repeated id unchanged (recording a_same_id_diff_args_underscore): call, result, call, result."""
    log = SessionLog().prompt()
    for command in ("a", "b", "c"):
        log.response(call("sh_0", {"command": command})).answer("sh_0")
    (turn,) = build_turns(_records(log))
    lines = [(c.record.place.line, c.result.place.line if c.result else None) for c in turn.calls]
    assert lines == [(2, 3), (4, 5), (6, 7)]


def test_calls_without_an_id_are_paired_by_order() -> None:
    """langchain-qwq#12: only the first parallel call has an id; the results come in the order of the calls."""
    first, second, third = call("c1", tool="add"), call("", tool="add", part=1), call("", tool="multiply", part=2)
    log = SessionLog().prompt().response(first, second, third).answer("c1").answer("").answer("")
    (turn,) = build_turns(_records(log))
    assert [c.result.place.line if c.result else None for c in turn.calls] == [3, 4, 5]


def test_a_result_without_a_call_answers_none() -> None:
    """open-webui#28305: the call of the second round is missing from the log, its result of the same id is there."""
    log = SessionLog().prompt().response(call("search:0")).answer("search:0").answer("search:0")
    (turn,) = build_turns(_records(log))
    (only,) = turn.calls
    assert only.result is not None
    assert only.result.place.line == 3


def test_a_late_result_answers_the_call_of_the_turn_before() -> None:
    """The person prompted again while the tool still ran: its result comes in the next turn, and is no orphan."""
    log = SessionLog().prompt().response(call("call_1")).prompt().response(text=True).answer("call_1")
    first, second = build_turns(_records(log))
    (late,) = first.calls
    assert late.result is not None
    assert late.result.place.line == 5
    assert second.orphan_results == []


def test_an_orphan_does_not_answer_an_older_call_whose_id_was_reused_since() -> None:
    log = SessionLog().prompt().response(call("x")).prompt().response(call("x")).answer("x").answer("x")
    first, second = build_turns(_records(log))
    assert [c.result for c in first.calls] == [None]
    assert len(second.orphan_results) == 1


def test_an_answer_told_twice_alike_is_taken_for_two_answers() -> None:
    """Records without a uuid may be equal in all they say: the first is an orphan here, the second answers the newer call."""
    log = SessionLog().prompt().answer("x").response(call("x")).response(call("x"))
    records = [replace(record, uuid=None, parent_uuid=None) for record in _records(log)]
    records.append(replace(records[1], place=replace(records[1].place, line=5)))
    (turn,) = build_turns(records)
    assert [c.result.place.line if c.result else None for c in turn.calls] == [None, 5]
    assert [orphan.place.line for orphan in turn.orphan_results] == [2]


def test_of_two_waiting_responses_the_newest_is_answered_first_and_call_by_call() -> None:
    """One id throughout, as a client without a guard logs it; the last response is told in two records."""
    log = SessionLog().prompt().response(call("x")).response(call("x"), call("x", part=1)).response(call("x"))
    for _ in range(4):
        log.answer("x")
    records = _records(log)
    records[2:4] = [replace(record, round_key="round") for record in records[2:4]]
    (turn,) = build_turns(records)
    assert [c.result.place.line if c.result else None for c in turn.calls] == [8, 5, 6, 7]


def test_a_sub_agents_round_in_two_records_is_one_response() -> None:
    log = SessionLog().prompt().response().response(call("call_1"))
    records = _records(log)
    records[1:] = [replace(record, round_key="run#1") for record in records[1:]]
    (turn,) = build_turns(records)
    assert len(turn.responses) == 1
    assert [c.call.recorded_id for c in turn.responses[0].calls] == ["call_1"]


def test_mid_turn_text_starts_no_turn() -> None:
    log = SessionLog().prompt().response(call("call_1")).answer("call_1").prompt().response(text=True)
    records = _records(log)
    records[3] = replace(records[3], origin="mid-turn")
    assert len(build_turns(records)) == 1
