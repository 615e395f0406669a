"""Session logs of Qwen Code: recorded files, and the shapes that no recording has."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.readers.qwen_chat import QwenChatReader
from ingest.records import AnyRecord, Call, Event, Prompt, Response, Result
from tests.ingest.readers.reading import (
    CHATS,
    PARENT,
    SESSION,
    SUBAGENTS,
    call,
    kinds,
    line,
    lines,
    prompt,
    read,
    record,
    records,
    response,
    result,
    stand_in,
)

AGENT_LOG = "agent-general-purpose-call_task.jsonl"


def only(rows: list[Any]) -> AnyRecord:
    (row,) = records(rows)
    return row


def read_one(value: dict[str, Any], source: str = f"/logs/{SESSION}.jsonl") -> AnyRecord:
    return only(read(QwenChatReader, lines(value), source))


def one_result(value: dict[str, Any], source: str = f"/logs/{SESSION}.jsonl") -> Result:
    row = read_one(value, source)
    assert isinstance(row, Result)
    return row


def one_response(value: dict[str, Any]) -> Response:
    row = read_one(value)
    assert isinstance(row, Response)
    return row


def test_recorded_daemon_session() -> None:
    """0.24.4 `qwen serve`: one shell command sent three times; answered, refused as duplicate, then the turn is stopped."""
    rows = records(read(QwenChatReader, (CHATS / f"{SESSION}.jsonl").read_bytes()))
    assert {row.session_id for row in rows} == {SESSION}
    assert {row.version for row in rows} == {"0.24.4"}
    assert [row.parent_uuid for row in rows] == [None, *[row.uuid for row in rows[:-1]]]
    first = rows[0]
    assert isinstance(first, Prompt)
    assert (first.origin, first.prompt_id) == ("user", "12e57224-7e64-4812-9a68-a0efb67f2c9b")
    assert first.ts == 1_796_061_863_403_000  # 2026-11-30T18:04:23.403Z

    responses = [row for row in rows if isinstance(row, Response)]
    assert [[one.recorded_id for one in row.calls] for row in responses] == [
        ["call_1"],
        ["call_1__qwen_dup_2"],
        ["call_1__qwen_dup_3"],
    ]
    args = {"command": "echo same", "is_background": False}
    digest, canonical = stand_in("run_shell_command", args)
    assert responses[0].calls[0] == Call(
        "call_1", "run_shell_command", 0, digest, None, canonical.decode(), len(canonical), "whole"
    )
    assert {(row.model, row.tokens_in, row.tokens_out, row.tokens_cached) for row in responses} == {("kimi-k3", 100, 10, 0)}

    results = [row for row in rows if isinstance(row, Result)]
    assert [(row.answer, row.quoted_id, row.guard_hint, row.status, row.error_class) for row in results] == [
        ("tool", None, None, "success", None),
        ("duplicate", "call_1", "fingerprint", "error", "execution_failed"),
        ("loop-skip", None, None, "error", "unknown"),
    ]
    assert [row.execution_status for row in results] == ["success", "not_started", "not_started"]

    events = [row for row in rows if isinstance(row, Event)]
    assert [row.name for row in events] == [
        "file_history_snapshot",
        "api_response",
        "tool_call",
        "api_response",
        "api_response",
        "turn_result",
    ]
    assert {row.channel for row in events} == {"log"}


def test_recorded_sub_agent() -> None:
    """0.24.4: the second round repeats the first, the third is a trip, whose call is in no log."""
    rows = records(read(QwenChatReader, (SUBAGENTS / AGENT_LOG).read_bytes(), f"/x/{AGENT_LOG}"))
    assert {row.session_id for row in rows} == {f"{PARENT}/agent-general-purpose-call_task"}
    assert isinstance(rows[0], Prompt)
    assert rows[0].origin == "sub-agent"
    run = "62b21bd8-2111-48ec-af4c-492d05fdc507"
    responses = [row for row in rows if isinstance(row, Response)]
    assert [(row.round_key, len(row.calls), row.tokens_in) for row in responses] == [
        (f"{run}#1", 0, 100),
        (f"{run}#1", 1, None),
        (f"{run}#2", 0, 100),
        (f"{run}#2", 1, None),
        (f"{run}#3", 0, 100),
    ]
    assert responses[3].calls[0].recorded_id == "call_1__qwen_dup_2:duplicate:2:0"
    results = [row for row in rows if isinstance(row, Result)]
    assert [(row.recorded_id, row.answer, row.status, row.error_class, row.duration_ms) for row in results] == [
        ("call_1", "tool", "success", None, 301.0),
        ("call_1__qwen_dup_2", "duplicate", "error", "error", 0.0),
    ]


@pytest.mark.parametrize(
    ("subtype", "origin"),
    [(None, "user"), ("cron", "cron"), ("notification", "notification"), ("mid_turn_user_message", "mid-turn")],
)
def test_origin_of_a_prompt(subtype: str | None, origin: str) -> None:
    row = read_one(prompt("u1", **({"subtype": subtype} if subtype else {})))
    assert isinstance(row, Prompt)
    assert row.origin == origin


def test_other_user_records_are_no_prompt() -> None:
    row = read_one(prompt("u1", subtype="goal_state"))
    assert isinstance(row, Event)
    assert (row.channel, row.name, row.uuid) == ("log", "goal_state", "u1")


@pytest.mark.parametrize(
    "message", ["yes", {"role": "user", "content": "yes"}, {"role": "user", "parts": "yes"}, {"role": "user"}, None]
)
def test_a_prompt_in_any_shape_starts_a_turn(message: object) -> None:
    row = read_one(record("u1", message=message))
    assert isinstance(row, Prompt)
    assert row.origin == "user"


def test_a_user_record_of_answers_only_is_no_prompt() -> None:
    part = {"functionResponse": {"id": "c", "name": "t", "response": {"output": "x"}}}
    row = read_one(record("u1", message={"role": "user", "parts": [part]}))
    assert isinstance(row, Result)
    assert row.recorded_id == "c"


@pytest.mark.parametrize(
    ("parts", "has_text", "has_thought"),
    [
        ([], False, False),
        ([{"text": ""}], False, False),
        ([{"text": "(empty content)"}], False, False),
        ([{"text": "(empty content) and more"}], True, False),
        ([{"text": "done"}], True, False),
        ([{"text": "hm", "thought": True}], False, True),
        ([{"text": "hm", "thought": True}, {"text": "done"}], True, True),
        ([{"text": "hm", "thought": False}], True, False),
    ],
)
def test_text_and_thought_of_a_response(parts: list[dict[str, Any]], has_text: bool, has_thought: bool) -> None:
    row = one_response(response("u1", *parts))
    assert (row.has_text, row.has_thought, row.calls) == (has_text, has_thought, ())


def test_calls_keep_their_place_among_the_parts() -> None:
    row = one_response(response("u1", {"text": "a"}, call("c1", "read_file", path="x"), {"text": "b"}, call(None, "glob")))
    assert [(one.part, one.recorded_id, one.tool) for one in row.calls] == [(1, "c1", "read_file"), (3, None, "glob")]


def test_arguments_that_are_not_what_the_client_hashed_have_no_fingerprint() -> None:
    absent = {"functionCall": {"id": "c", "name": "t"}}
    row = one_response(response("u1", absent, call("c", "structured_output", answer="x"), call("c", "t")))
    assert [(one.args_state, one.fingerprint is None) for one in row.calls] == [
        ("absent", True),
        ("redacted", True),
        ("whole", False),
    ]


def test_long_arguments_are_cut_but_measured_and_hashed_whole() -> None:
    args = {"content": "\u00e9" * 3000}
    row = one_response(response("u1", call("c", "write_file", **args)))
    digest, canonical = stand_in("write_file", args)
    (one,) = row.calls
    assert (one.fingerprint, one.args_bytes) == (digest, len(canonical))
    assert one.args_json.encode() == canonical[: len(one.args_json.encode())]
    assert 1020 < len(one.args_json.encode()) <= 1024


@pytest.mark.parametrize(
    "written", [b'"\\ud800"', b"1e400", b'"\\udc00x"', b"NaN", b"123456789012345678901234567890123456789012345678901234567890"]
)
def test_arguments_that_msgspec_refuses_are_hashed_all_the_same(written: bytes) -> None:
    whole = line(response("u1", call("c", "t", value="@"), call("d", "t", value="plain"))).replace(b'"@"', written)
    rows = read(QwenChatReader, whole + b"\n" + lines(prompt("u2")))
    assert kinds(rows) == []
    row = records(rows)[0]
    assert isinstance(row, Response)
    value = json.loads(written)
    assert row.calls[0].fingerprint == stand_in("t", {"value": value})[0]
    assert [one.args_state for one in row.calls] == ["whole", "whole"]


def test_results_are_told_apart_by_their_content() -> None:
    same = [one_result(result("u1", "c1", {"output": "x"})), one_result(result("u2", "c2", {"output": "x"}))]
    other = one_result(result("u3", "c1", {"output": "y"}))
    assert same[0].digest == same[1].digest != other.digest
    assert same[0].bytes == len(b'{"output":"x"}')


def test_a_failed_call_keeps_the_clients_error_class() -> None:
    row = one_result(result("u1", "c", {"error": "File not found"}, errorType="file_not_found", executionStatus="error"))
    assert (row.answer, row.status, row.error_class) == ("tool", "error", "file_not_found")


def test_a_result_without_parts_still_answers_its_call() -> None:
    row = one_result(record("u1", "tool_result", toolCallResult={"callId": "c", "status": "cancelled"}))
    assert (row.recorded_id, row.tool, row.answer, row.status, row.digest) == ("c", None, "cancelled", "cancelled", None)


def test_a_result_with_nothing_in_it_stays_in_the_chain() -> None:
    row = one_result(record("u1", "tool_result", parent="u0"))
    assert (row.uuid, row.parent_uuid, row.recorded_id) == ("u1", "u0", None)


def test_several_answers_in_one_record_keep_their_own_outcome() -> None:
    parts = [{"functionResponse": {"id": name, "name": "t", "response": {"output": name}}} for name in ("c1", "c2")]
    told = {"callId": "c2", "status": "success"}
    rows = records(read(QwenChatReader, lines(record("u1", "tool_result", message={"parts": parts}, toolCallResult=told))))
    assert [(row.recorded_id, row.part, row.status) for row in rows if isinstance(row, Result)] == [
        ("c1", 0, None),
        ("c2", 1, "success"),
    ]


def test_a_fork_is_marked_on_each_copied_record() -> None:
    row = read_one(prompt("u1", forkedFrom={"sessionId": "origin", "messageUuid": "m"}))
    assert row.forked_from == "origin"


def test_the_file_name_stands_in_for_a_lost_session_id() -> None:
    value = prompt("u1")
    del value["sessionId"]
    assert read_one(value, "/logs/feed-beef.jsonl").session_id == "feed-beef"


def test_agent_ids_repeat_under_different_parents() -> None:
    source = "/logs/agent-a1b2.jsonl"
    sessions = {
        read_one(prompt("u1", isSidechain=True, agentId="a1b2") | {"sessionId": parent}, source).session_id
        for parent in ("parent-1", "parent-2")
    }
    assert sessions == {"parent-1/agent-a1b2", "parent-2/agent-a1b2"}


def test_a_round_ends_with_its_results() -> None:
    side = {"isSidechain": True, "agentId": "a", "agentRunId": "run"}
    rows = read(
        QwenChatReader,
        lines(
            response("u1", agentRound=1, **side),
            response("u2", call("c"), isSidechain=True),
            result("u3", "c", {"output": "x"}) | {"isSidechain": True},
            response("u4", call("d"), isSidechain=True),
        ),
        "/logs/agent-a.jsonl",
    )
    assert [row.round_key for row in rows if isinstance(row, Response)] == ["run#1", "run#1", None]


def test_members_of_unexpected_types_are_left_out_and_the_record_kept() -> None:
    odd = response("u1", call("c", "t", a=1)) | {
        "timestamp": {},
        "version": 24,
        "cwd": {},
        "usageMetadata": {"promptTokenCount": "many", "candidatesTokenCount": 7},
        "isSidechain": "no",
        "forkedFrom": [],
    }
    row = one_response(odd)
    assert (row.ts, row.version, row.cwd, row.tokens_in, row.tokens_out) == (None, None, None, None, 7)
    assert row.calls[0].fingerprint == stand_in("t", {"a": 1})[0]


NOON = 1_796_061_474_768_000


_NO_TIMES: tuple[Any, ...] = ("yesterday", "2026-11-30", "", 0, None, True, {}, [], [1], ["a", 1], 1e300, -1e300, "9" * 5000)


@pytest.mark.parametrize(
    ("written", "microseconds"),
    [
        ("2026-11-30T17:57:54.768Z", NOON),
        ("2026-11-30T18:57:54.768+01:00", NOON),
        ("2026-11-30T17:57:54.768", NOON),
        ("2026-11-30 17:57:54,768", NOON),
        ("20261130T175754.768Z", NOON),
        ("2026-11-30T17:57:54Z", NOON - 768_000),
        (NOON // 1_000_000, NOON - 768_000),
        (NOON / 1_000_000, NOON),
        (NOON // 1000, NOON),
        (NOON, NOON),
        (NOON * 1000, NOON),
        (str(NOON // 1000), NOON),
        ([NOON // 1_000_000, 768_000_000], NOON),
        *((odd, None) for odd in _NO_TIMES),
        ("2026-13-45T99:00:00Z", None),
    ],
)
def test_times_are_microseconds_in_utc(written: object, microseconds: int | None) -> None:
    assert read_one(prompt("u1") | {"timestamp": written}).ts == microseconds


def test_no_text_leaves_with_half_a_character() -> None:
    text = line(prompt("u1", cwd="@")).replace(b'"@"', b'"/p/\\ud800"')
    row = only(read(QwenChatReader, text + b"\n"))
    assert row.cwd == "/p/\\ud800"


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["parts", "text", "functionCall", "functionResponse", "args", "id", "response"]), inner
        )
    ),
    max_leaves=8,
)
MEMBERS = ("sessionId", "timestamp", "subtype", "version", "message", "usageMetadata", "toolCallResult", "systemPayload")


@given(
    st.sampled_from(["user", "assistant", "tool_result", "system"]),
    st.dictionaries(st.sampled_from([*MEMBERS, "isSidechain", "agentRound", "forkedFrom", "parentUuid"]), ANYTHING),
)
def test_a_record_whose_members_have_any_type_stays_in_the_chain(type_: str, members: dict[str, Any]) -> None:
    rows = records(read(QwenChatReader, lines(record("u1", type_) | members, prompt("u2"))))
    assert {row.uuid for row in rows} == {"u1", "u2"}
