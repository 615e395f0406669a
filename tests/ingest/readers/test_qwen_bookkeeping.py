from __future__ import annotations

from typing import Any

import pytest

from ingest.readers.qwen_chat import QwenChatReader
from ingest.records import AnyRecord, Compaction, Event, HistoryEntry
from tests.ingest.readers.reading import CHATS, SESSION, call, kinds, line, lines, read, record, records, stand_in


def bookkeeping(subtype: str | None, payload: object) -> AnyRecord:
    value = record("u2", "system", "u1", systemPayload=payload, **({"subtype": subtype} if subtype else {}))
    (row,) = records(read(QwenChatReader, lines(value)))
    assert (row.uuid, row.parent_uuid) == ("u2", "u1")
    return row


def event(subtype: str | None, payload: object) -> Event:
    row = bookkeeping(subtype, payload)
    assert isinstance(row, Event)
    assert row.channel == "log"
    return row


def recorded(name: str) -> list[Event]:
    rows = records(read(QwenChatReader, (CHATS / f"{SESSION}.jsonl").read_bytes()))
    return [row for row in rows if isinstance(row, Event) and row.name == name]


def test_recorded_turn_result() -> None:
    (row,) = recorded("turn_result")
    assert (row.status, row.error_class, row.prompt_id) == ("error", "-32603", "12e57224-7e64-4812-9a68-a0efb67f2c9b")
    assert row.message is not None
    assert row.message.startswith("Tool-call loop protection stopped this turn.")
    assert row.duration_ms == 1796061864364 - 1796061863394
    assert row.attributes == {}


def test_recorded_snapshot_names_the_prompt() -> None:
    (row,) = recorded("file_history_snapshot")
    assert row.prompt_id == f"{SESSION}########1"


def test_recorded_events_lose_their_prefix_and_keep_the_chain() -> None:
    first = recorded("api_response")[0]
    assert first.uuid == "787ead83-9df5-4299-ac3b-1fe5eaf6aae6"
    assert (first.model, first.response_id, first.duration_ms) == ("kimi-k3", "chatcmpl-mock-0", 564)
    assert first.attributes == {"auth_type": "openai", "status_code": "200"}
    (called,) = recorded("tool_call")
    assert (called.call_id, called.tool, called.status, called.duration_ms) == ("call_1", "run_shell_command", "success", 160)
    assert called.attributes == {"execution_status": "success"}


def test_turn_result_of_a_finished_turn() -> None:
    row = event("turn_result", {"promptId": "p", "state": "completed", "stopReason": "end_turn"})
    assert (row.status, row.message, row.attributes) == ("completed", None, {"stopReason": "end_turn"})


def test_a_snapshot_of_several_prompts_names_the_last() -> None:
    assert event("file_history_snapshot", {"snapshots": [{"promptId": "a"}, {"promptId": "b"}]}).prompt_id == "b"


def test_rewind_and_background_task() -> None:
    assert event("rewind", {"truncatedCount": 6}).attributes == {"truncatedCount": "6"}
    task = {"taskId": "t", "sourceTurnId": "S########1", "status": "failed", "toolUseId": "call_task"}
    row = event("background_task_completed", {"backgroundTask": task})
    assert (row.status, row.prompt_id, row.attributes) == ("failed", "S########1", {"taskId": "t", "toolUseId": "call_task"})


def test_unknown_records_keep_their_name_and_place_in_the_chain() -> None:
    assert event("session_artifact_saved", {"anything": [1]}).name == "session_artifact_saved"
    assert event(None, None).name == "system"


def test_api_error_keeps_message_and_class_and_cuts_the_message() -> None:
    told = {
        "event.name": "qwen-code.api_error",
        "error_message": "x" * 600,
        "error_type": "InvalidStreamError",
        "status_code": 500,
    }
    row = event("ui_telemetry", {"uiEvent": told})
    assert (row.name, row.error_class, row.status) == ("api_error", "InvalidStreamError", "500")
    assert row.message == "x" * 500


def test_members_of_other_types_do_not_cost_the_event() -> None:
    told = {
        "event.name": "qwen-code.tool_call",
        "call_id": 7,
        "status": None,
        "duration_ms": "long",
        "function_name": ["t"],
        "success": 1,
    }
    row = event("ui_telemetry", {"uiEvent": told})
    assert (row.name, row.call_id, row.tool, row.duration_ms) == ("tool_call", "7", None, None)


@pytest.mark.parametrize("payload", [None, 5, "text", [], {}, {"uiEvent": "x"}, {"uiEvent": {}}])
def test_telemetry_without_an_event_stays_in_the_chain(payload: object) -> None:
    assert event("ui_telemetry", payload).name == "ui_telemetry"


@pytest.mark.parametrize(
    "subtype", ["turn_result", "file_history_snapshot", "rewind", "background_task_completed", "chat_compression"]
)
@pytest.mark.parametrize(
    "payload",
    [None, 5, "text", [], {"snapshots": [7], "error": 1, "backgroundTask": [], "compressedHistory": [3, {"parts": 4}]}],
)
def test_payloads_of_any_shape_are_survived(subtype: str, payload: object) -> None:
    bookkeeping(subtype, payload)


def test_half_a_character_in_an_error_message_is_spelled_out() -> None:
    told = {"event.name": "qwen-code.api_error", "error_message": "@"}
    text = line(record("u1", "system", subtype="ui_telemetry", systemPayload={"uiEvent": told})).replace(
        b'"@"', b'"bad \\ud800"'
    )
    (row,) = records(read(QwenChatReader, text + b"\n"))
    assert isinstance(row, Event)
    assert (row.name, row.message) == ("api_error", "bad \\ud800")


def test_a_byte_that_is_no_utf8_costs_no_event_and_is_told() -> None:
    told = {"event.name": "qwen-code.api_error", "error_message": "@", "status_code": 500}
    text = line(record("u1", "system", subtype="ui_telemetry", systemPayload={"uiEvent": told})).replace(b"@", b"\xff")
    rows = read(QwenChatReader, text + b"\n")
    (row,) = records(rows)
    assert isinstance(row, Event)
    assert (row.name, row.status, row.message) == ("api_error", "500", "\\udcff")
    assert kinds(rows) == ["bad-utf8"]


def test_a_call_in_a_damaged_history_has_no_fingerprint() -> None:
    history = [{"role": "model", "parts": [call("call_1", "read_file", path="@")]}]
    text = line(record("u1", "system", subtype="chat_compression", systemPayload={"compressedHistory": history}))
    (row,) = records(read(QwenChatReader, text.replace(b"@", b"\xff") + b"\n"))
    assert isinstance(row, Compaction)
    assert row.entries == (HistoryEntry("call", "call_1", "read_file", None),)


def test_compaction_keeps_calls_and_answers_of_the_new_history() -> None:
    history: list[dict[str, Any]] = [
        {"role": "user", "parts": [{"text": "<state_snapshot>"}]},
        {
            "role": "model",
            "parts": [{"text": "ok"}, call("call_1", "read_file", path="x"), {"functionCall": {"id": "call_2", "name": "t"}}],
        },
        {"role": "user", "parts": [{"functionResponse": {"id": "call_1", "name": "read_file", "response": {"output": "y"}}}]},
        {"role": "model", "parts": "plain"},
    ]
    row = bookkeeping("chat_compression", {"info": {"triggerReason": "manual"}, "compressedHistory": history})
    assert isinstance(row, Compaction)
    assert row.entries == (
        HistoryEntry("call", "call_1", "read_file", stand_in("read_file", {"path": "x"})[0]),
        HistoryEntry("call", "call_2", "t", None),
        HistoryEntry("answer", "call_1", "read_file"),
    )
