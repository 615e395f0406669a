"""The telemetry file: objects cut from recordings of 0.24.4, 0.21.10, 0.15.10 and 0.12.0."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.readers.qwen_telemetry import QwenTelemetryReader
from ingest.records import Event
from tests.ingest.readers.reading import DATA, kinds, problems, read, records

FILE = (DATA / "telemetry.log").read_bytes()


def events(data: bytes, chunk: int | None = None) -> list[Event]:
    return [row for row in records(read(QwenTelemetryReader, data, chunk=chunk)) if isinstance(row, Event)]


def one(value: dict[str, Any]) -> Event:
    (row,) = events(json.dumps(value, indent=2).encode())
    return row


def log(**attributes: Any) -> dict[str, Any]:
    return {"attributes": {"session.id": "s", **attributes}, "_hrTime": [1796061864, 355000000], "_body": "x"}


def span(name: str, code: int = 0, **attributes: Any) -> dict[str, Any]:
    return {
        "attributes": {"session.id": "s", **attributes},
        "name": name,
        "status": {"code": code},
        "startTime": [1796061863, 471000000],
        "endTime": [1796061864, 500000],
        "_spanContext": {"spanId": "x"},
    }


def test_recorded_file() -> None:
    """14 objects, of which a metric and a span of the HTTP library are left out."""
    rows = events(FILE)
    assert problems(read(QwenTelemetryReader, FILE)) == []
    assert [(row.channel, row.name) for row in rows] == [
        ("telemetry", "api_request"),
        ("telemetry", "api_response"),
        ("telemetry", "tool_call"),
        ("telemetry", "repeated_tool_failure_guard"),
        ("telemetry", "loop_detected"),
        ("telemetry", "api_request"),
        ("span", "tool"),
        ("span", "interaction"),
        ("telemetry", "subagent_execution"),
        ("telemetry", "user_prompt"),
        ("telemetry", "user_prompt"),
        ("telemetry", "user_prompt"),
    ]
    assert [row.version for row in rows] == ["0.24.4"] * 9 + [None, "0.15.10", "0.21.10"]
    assert all(row.session_id for row in rows)
    assert all(row.ts is not None and row.ts > 1_796_000_000_000_000 for row in rows)


@pytest.mark.parametrize("chunk", [1, 100, 4096])
def test_chunks_do_not_matter(chunk: int) -> None:
    assert events(FILE, chunk) == events(FILE)
    assert [row.place for row in events(FILE, chunk)] == [row.place for row in events(FILE)]


def test_recorded_loop_event_and_turn() -> None:
    (loop,) = [row for row in events(FILE) if row.name == "loop_detected"]
    assert loop.loop_type == "global_tool_call_duplicate"
    assert loop.prompt_id == f"{loop.session_id}########1"
    (turn,) = [row for row in events(FILE) if row.name == "interaction"]
    assert (turn.status, turn.error_class, turn.attributes["message_type"]) == ("error", "RequestError", "acp_prompt")
    assert turn.message is not None
    assert turn.message.startswith("Tool-call loop protection")


def test_recorded_sub_agent_and_guard_events() -> None:
    rows = {row.name: row for row in events(FILE)}
    ended = rows["subagent_execution"]
    assert (ended.status, ended.attributes) == (
        "failed",
        {"subagent_name": "general-purpose", "terminate_reason": "LOOP_DETECTED"},
    )
    guard = rows["repeated_tool_failure_guard"]
    assert guard.prompt_id is not None
    assert guard.session_id == guard.prompt_id.split("########")[0]  # the event itself names no session


def test_the_note_about_a_stopped_turn_is_told_and_the_request_is_not_kept() -> None:
    notes = [row.attributes.get("loop_note") for row in events(FILE) if row.name == "api_request"]
    assert notes == ["false", "true"]
    assert b"first prompt" in FILE
    assert "first prompt" not in repr(events(FILE))


@pytest.mark.parametrize(("separators", "expected"), [((",", ":"), "true"), ((", ", ": "), "true")])
def test_the_note_is_found_however_the_request_is_printed(separators: tuple[str, str], expected: str) -> None:
    note = (
        "System: this turn was terminated because the model exceeded tool-call safety limits."
        " Try a different approach on the next turn."
    )
    request = [{"role": "user", "parts": [{"text": note}, {"text": "next"}]}]
    told = log(**{"event.name": "qwen-code.api_request", "request_text": json.dumps(request, separators=separators)})
    assert one(told).attributes["loop_note"] == expected
    quoting = [{"role": "user", "parts": [{"text": f'why "{note}"?'}, {"text": json.dumps({"text": note})}]}]
    told["attributes"]["request_text"] = json.dumps(quoting, separators=separators)
    assert one(told).attributes["loop_note"] == "false"


def test_old_and_new_spellings_of_time_and_body() -> None:
    old = log(**{"event.name": "qwen-code.api_response"})
    old["hrTime"] = old.pop("_hrTime")
    old["body"] = old.pop("_body")
    assert one(old).ts == 1796061864355000
    del old["hrTime"]
    old["attributes"]["event.timestamp"] = "2026-11-30T18:04:24.355Z"
    assert one(old).ts == 1796061864355000


def test_api_error_and_tool_call() -> None:
    row = one(
        log(
            **{
                "event.name": "qwen-code.api_error",
                "error_message": "",
                "error.message": "boom",
                "error.type": "E",
                "status_code": 400,
            }
        )
    )
    assert (row.message, row.error_class, row.status) == ("boom", "E", "400")
    row = one(
        log(
            **{
                "event.name": "qwen-code.tool_call",
                "function_name": "search_file_content",
                "call_id": "c",
                "status": "error",
                "response_id": "r",
                "duration_ms": 3,
            }
        )
    )
    assert (row.tool, row.call_id, row.status, row.response_id, row.duration_ms) == (
        "search_file_content",
        "c",
        "error",
        "r",
        3,
    )
    row = one(
        log(**{"event.name": "qwen-code.chat.content_retry_failure", "final_error_type": "NO_FINISH", "total_attempts": 3})
    )
    assert (row.error_class, row.attributes) == ("NO_FINISH", {"total_attempts": "3"})


def test_loop_types_are_unified_and_unknown_ones_kept() -> None:
    assert (
        one(log(**{"event.name": "loop_detected", "loop_type": "GLOBAL_TOOL_CALL_DUPLICATE"})).loop_type
        == "global_tool_call_duplicate"
    )
    assert one(log(**{"event.name": "loop_detected", "loop_type": "llm_detected_loop"})).loop_type == "llm_detected_loop"


def test_status_and_duration_of_a_span() -> None:
    row = one(
        span(
            "qwen-code.llm_request",
            0,
            **{"gen_ai.request.model": "m", "gen_ai.response.id": "r", "gen_ai.provider.name": "openai"},
        )
    )
    assert (row.status, row.model, row.response_id, row.attributes) == ("ok", "m", "r", {"provider": "openai"})
    assert (row.ts, row.duration_ms) == (1796061863471000, 529.5)
    assert one(span("qwen-code.tool", 2, **{"error.type": "tool_error", "gen_ai.tool.name": "t"})).status == "error"
    assert one(span("qwen-code.interaction", 0, **{"qwen-code.turn_status": "cancelled"})).status == "cancelled"


def test_an_event_of_no_session_is_kept_only_if_it_says_something() -> None:
    told = log(**{"event.name": "qwen-code.daemon.channel.spawn"})
    del told["attributes"]["session.id"]
    assert events(json.dumps(told).encode()) == []
    told["attributes"]["error_message"] = "x"
    assert one(told).session_id == ""


def test_what_msgspec_refuses_is_read_all_the_same() -> None:
    text = json.dumps(log(**{"event.name": "qwen-code.api_error", "error_message": "@", "duration_ms": 1}), indent=2)
    row = events(text.replace('"@"', '"\\ud800"').replace('"duration_ms": 1', '"duration_ms": 1e999').encode())[0]
    assert (row.name, row.message, row.duration_ms, row.ts) == ("api_error", "\\ud800", None, 1796061864355000)


@pytest.mark.parametrize("value", [{}, {"a": 1}, {"resourceLogs": []}, {"attributes": {}}])
def test_other_objects_are_foreign(value: dict[str, Any]) -> None:
    assert kinds(read(QwenTelemetryReader, json.dumps(value).encode())) == ["foreign-record"]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3),
    max_leaves=5,
)


@given(
    st.dictionaries(
        st.sampled_from(["attributes", "resource", "status", "name", "startTime", "endTime", "_hrTime", "_body"]), JSON
    )
)
def test_members_of_any_type_are_survived(value: dict[str, Any]) -> None:
    read(QwenTelemetryReader, json.dumps(value).encode())
