"""Wire logs: a recording of 0.21.10 whose daemon tripped in silence, and messages put together for what none recorded holds."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ingest.readers.acp_wire import AcpWireReader
from ingest.records import CardEvent, Event
from tests.ingest.readers.reading import DATA, cards, kinds, lines, problems, read, records

LOG = (DATA / "cards/acp.jsonl").read_bytes()
SOURCE = "/logs/acp.jsonl"
SESSION = "3d379e0d-ad6b-420f-b2ac-381d0cff48e8"


def told(data: bytes, **more: Any) -> list[CardEvent]:
    return cards(read(AcpWireReader, data, SOURCE, **more))


def ends(data: bytes) -> list[Event]:
    return [row for row in records(read(AcpWireReader, data, SOURCE)) if isinstance(row, Event)]


def plain(data: bytes) -> bytes:
    """The messages without time and sender."""
    return lines(*(json.loads(line)["msg"] for line in data.splitlines()))


def update(kind: str, card_id: str | None, status: str | None = None, **more: Any) -> dict[str, Any]:
    inner = {"sessionUpdate": kind, "toolCallId": card_id, "status": status, **more}
    return {"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s", "update": inner}}


def usage() -> dict[str, Any]:
    inner = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": ""}, "_meta": {"usage": {}}}
    return {"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s", "update": inner}}


def request(number: int, method: str, sender: str | None = None, **params: Any) -> dict[str, Any]:
    message = {"jsonrpc": "2.0", "id": number, "method": method, "params": {"sessionId": "s", **params}}
    return {"dir": sender, "msg": message} if sender else message


def answer(number: int, sender: str | None = None, **members: Any) -> dict[str, Any]:
    message = {"jsonrpc": "2.0", "id": number, **members}
    return {"dir": sender, "msg": message} if sender else message


def test_the_recorded_cards_in_their_order() -> None:
    assert [(one.kind, one.card_id, one.status, one.round_no, one.result_lines) for one in told(LOG)] == [
        ("start", "call_1", "pending", 1, None),
        ("update", "call_1", "in_progress", None, None),
        ("update", "call_1", "completed", None, 7),
        ("start", "call_1__qwen_dup_2", "pending", 2, None),
        ("update", "call_1__qwen_dup_2", "failed", None, 1),
        ("start", "call_1__qwen_dup_3", "pending", 3, None),
    ]
    first, second = told(LOG)[:2]
    assert (first.session_id, first.surface, first.tool, first.version) == (SESSION, "acp", "run_shell_command", "0.21.10")
    assert first.ts == pytest.approx(1_796_061_373_910_278.6, abs=1)
    assert (first.args_json, second.args_json) == (None, '{"command":"echo same","is_background":false}')
    assert LOG[first.place.offset : first.place.offset + first.place.length] == LOG.splitlines()[first.place.line - 1]


def test_a_wire_log_makes_no_calls_and_keeps_no_texts() -> None:
    rows = read(AcpWireReader, LOG, SOURCE)
    assert {type(row) for row in rows} == {CardEvent, Event}
    assert "scripted job" not in repr(rows)


def test_the_end_of_a_prompt_is_told() -> None:
    (end,) = ends(LOG)
    assert (end.channel, end.name, end.session_id, end.status, end.error_class) == (
        "wire",
        "prompt_response",
        SESSION,
        "end_turn",
        None,
    )
    assert end.ts == pytest.approx(1_796_061_374_213_322.2, abs=1)
    assert end.duration_ms == pytest.approx(497.1455, abs=0.002)  # 1796061374.2133222 - 1796061373.7161767 s


def test_an_error_tells_its_code_and_what_loop() -> None:
    error = {"code": -32603, "message": "stopped", "data": {"code": "LOOP_DETECTED", "errorKind": "loop", "loopType": "GLOBAL"}}
    (end,) = ends(lines(request(3, "session/prompt"), answer(3, error=error)))
    assert (end.status, end.error_class, end.message, end.loop_type) == (None, "LOOP_DETECTED", "stopped", "global")
    assert end.attributes == {"errorKind": "loop", "loopType": "GLOBAL", "rpcCode": "-32603"}
    details = {"code": -32603, "message": "Internal error", "data": {"details": "no progress"}}
    (other,) = ends(lines(request(3, "session/prompt"), answer(3, error=details)))
    assert (other.error_class, other.message) == ("-32603", "no progress")


@pytest.mark.parametrize("chunk", [1, 100, 4096])
def test_chunks_do_not_matter(chunk: int) -> None:
    whole = read(AcpWireReader, LOG, SOURCE)
    pieces = read(AcpWireReader, LOG, SOURCE, chunk=chunk)
    assert pieces == whole
    assert [one.place for one in cards(pieces)] == [one.place for one in cards(whole)]


def test_messages_without_a_frame_say_the_same_but_for_their_time() -> None:
    framed, bare = told(LOG), told(plain(LOG))
    assert [(one.kind, one.card_id, one.status, one.round_no) for one in framed] == [
        (one.kind, one.card_id, one.status, one.round_no) for one in bare
    ]
    assert {one.ts for one in bare} == {None}
    assert [(end.status, end.session_id) for end in ends(plain(LOG))] == [("end_turn", SESSION)]


def test_a_question_of_the_agent_is_not_the_end_of_the_prompt() -> None:
    """Both sides number from 0, and the agent's question with the number of the open prompt is answered with an error."""
    for sides in (("client", "agent"), (None, None)):
        log = lines(
            request(3, "session/prompt", sides[0]),
            request(3, "craft/drainMidTurnQueue", sides[1]),
            answer(3, sides[0], error={"code": -32601, "message": "not supported"}),
            answer(3, sides[1], result={"stopReason": "end_turn"}),
        )
        assert [(end.status, end.error_class) for end in ends(log)] == [("end_turn", None)]


def test_a_call_announced_while_it_is_streamed_belongs_to_the_response_that_is_not_over() -> None:
    streamed = {"_meta": {"toolName": "glob", "phase": "preparing"}, "rawInput": {}}
    log = lines(
        update("tool_call", "a", "pending", **streamed),
        usage(),
        update("tool_call_update", "a", "completed"),
        usage(),
        update("tool_call", "b", "in_progress", rawInput={"p": 1}, _meta={"toolName": "glob"}),
    )
    assert [(one.card_id, one.round_no, one.args_json) for one in told(log) if one.kind == "start"] == [
        ("a", 1, None),
        ("b", 2, '{"p":1}'),
    ]


def test_without_usage_a_new_response_begins_when_all_calls_have_ended() -> None:
    log = lines(
        update("tool_call", "a", "pending"),
        update("tool_call", "b", "pending"),
        update("tool_call_update", "a", "completed"),
        update("tool_call", "c", "pending"),
        update("tool_call_update", "b", "failed"),
        update("tool_call_update", "c", "completed"),
        update("tool_call", "d", "pending"),
    )
    assert [(one.card_id, one.round_no) for one in told(log) if one.kind == "start"] == [("a", 1), ("b", 1), ("c", 1), ("d", 2)]


def test_what_is_taken_back_before_it_ran_is_told_apart() -> None:
    meta = {"toolName": "glob", "phase": "preparing", "preparationDiscarded": True}
    (one,) = told(lines(update("tool_call_update", "a", "failed", _meta=meta)))
    assert (one.kind, one.status) == ("discard", "failed")


def test_a_session_told_again_from_its_beginning_is_a_new_start() -> None:
    log = lines(update("tool_call", "a", "pending"), request(9, "session/load"), update("tool_call", "a", "completed"))
    assert [one.kind for one in told(log)] == ["start", "reset", "start"]


@pytest.mark.parametrize(
    ("outcome", "status"),
    [
        ({"outcome": "selected", "optionId": "yes"}, "approved"),
        ({"outcome": "selected", "optionId": "no"}, "denied"),
        ({"outcome": "selected", "optionId": "other"}, "other"),
        ({"outcome": "cancelled"}, "cancelled"),
        ({}, "unanswered"),
    ],
)
def test_a_permission_asked_and_answered(outcome: dict[str, str], status: str) -> None:
    options = [{"optionId": "yes", "kind": "allow_once"}, {"optionId": "no", "kind": "reject_once"}]
    call = {"toolCallId": "a", "title": "Shell: rm x", "rawInput": {"command": "rm x"}}
    asked, answered = told(
        lines(request(0, "session/request_permission", toolCall=call, options=options), answer(0, result={"outcome": outcome}))
    )
    assert (asked.kind, asked.card_id, asked.tool, asked.args_json) == ("ask", "a", "Shell", '{"command":"rm x"}')
    assert (answered.kind, answered.card_id, answered.status, answered.fingerprint) == (
        "approval",
        "a",
        status,
        asked.fingerprint,
    )


def test_the_lines_of_a_card_are_those_of_its_texts_and_of_what_a_file_becomes() -> None:
    content = [
        {"type": "content", "content": {"type": "text", "text": "one\ntwo\n"}},
        {"type": "diff", "path": "x", "oldText": "a\nb\nc\nd", "newText": "a\nb\nc"},
        {"type": "terminal", "terminalId": "t"},
        "no block",
    ]
    (one,) = told(lines(update("tool_call_update", "a", "completed", content=content)))
    assert one.result_lines == 2 + 3


def test_damage_and_other_json_are_told_and_the_rest_is_read() -> None:
    log = LOG.splitlines(keepends=True)
    damaged = b"".join([*log[:5], log[5][:80] + b"\n", b'{"jsonrpc":"2.0"}\n', *log[6:]])
    rows = read(AcpWireReader, damaged, SOURCE)
    assert {problem.kind for problem in problems(rows)} == {"damaged", "foreign-record"}
    assert [one.kind for one in cards(rows)] == ["update", "update", "start", "update", "start"]
    assert kinds(read(AcpWireReader, LOG[:-40], SOURCE)) == ["torn-tail"]


@pytest.mark.parametrize("hostile", [{"id": [1], "result": []}, {"method": 5, "params": []}, {"method": "session/update"}])
def test_members_of_any_type_are_survived(hostile: dict[str, Any]) -> None:
    read(AcpWireReader, lines({"jsonrpc": "2.0", **hostile}, update("tool_call", "a", "pending")), SOURCE)
