"""OTLP payloads: cut from what 0.24.4 sent to a receiver."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.readers.otlp import OtlpJsonReader
from ingest.records import Event
from tests.ingest.readers.reading import DATA, kinds, problems, read, records

LOGS = (DATA / "otlp/logs.json").read_bytes()
TRACES = (DATA / "otlp/traces.json").read_bytes()
SESSION = "5696a9c7-2a06-4957-ad85-55f708344c38"


def events(data: bytes, chunk: int | None = None) -> list[Event]:
    return [row for row in records(read(OtlpJsonReader, data, chunk=chunk)) if isinstance(row, Event)]


def test_recorded_logs() -> None:
    rows = events(LOGS)
    assert [row.name for row in rows] == ["tool_call", "api_request", "api_response", "loop_detected", "session.end"]
    assert {(row.session_id, row.version, row.channel) for row in rows} == {(SESSION, "0.24.4", "telemetry")}
    called, _, answered, loop, _ = rows
    assert (called.call_id, called.tool, called.status, called.duration_ms) == ("call_0", "run_shell_command", "success", 83)
    assert called.ts == 1_796_061_474_768_000
    assert answered.attributes["auth_type"] == "openai"
    assert loop.loop_type == "consecutive_identical_tool_calls"
    assert all(row.message is None for row in rows)  # an undefined attribute arrives as an empty object


def test_recorded_spans() -> None:
    rows = {row.name: row for row in events(TRACES)}
    assert set(rows) == {"llm_request", "interaction"}
    turn = rows["interaction"]
    assert (turn.channel, turn.session_id, turn.status, turn.error_class) == ("span", SESSION, "error", "loop_detected")
    assert turn.attributes["message_type"] == "userQuery"


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("chunk", [None, 1, 1000])
def test_one_payload_or_many_in_any_printing(indent: int | None, chunk: int | None) -> None:
    many = b"\n".join(json.dumps(json.loads(text), indent=indent).encode() for text in (LOGS, TRACES, LOGS))
    assert events(many, chunk) == [*events(LOGS), *events(TRACES), *events(LOGS)]


def test_metrics_are_left_out_without_a_word() -> None:
    assert read(OtlpJsonReader, b'{"resourceMetrics":[]}') == []


def test_a_cut_payload_is_a_torn_tail() -> None:
    rows = read(OtlpJsonReader, LOGS + b"\n" + TRACES[:-5])
    assert [problem.kind for problem in problems(rows)] == ["torn-tail"]
    assert len(records(rows)) == 5


def test_integers_may_be_texts_and_unknown_times_zero() -> None:
    attributes = [
        {"key": "event.name", "value": {"stringValue": "qwen-code.api_response"}},
        {"key": "session.id", "value": {"stringValue": "s"}},
        {"key": "duration_ms", "value": {"intValue": "12"}},
        {"key": "status_code", "value": {"intValue": "x"}},
    ]
    record = {"timeUnixNano": "0", "observedTimeUnixNano": 1796061474785000000, "attributes": attributes}
    payload = {"resourceLogs": [{"scopeLogs": [{"logRecords": [record]}]}]}
    (row,) = events(json.dumps(payload).encode())
    assert (row.duration_ms, row.ts, row.status, row.version) == (12, 1796061474785000, None, None)


def test_other_json_is_foreign() -> None:
    assert kinds(read(OtlpJsonReader, b'{"a": 1}\n[1]\n')) == ["foreign-record", "damaged"]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["resource", "scopeLogs", "scopeSpans", "logRecords", "spans", "attributes", "key", "value", "status"]
            ),
            inner,
        )
    ),
    max_leaves=12,
)


@given(st.dictionaries(st.sampled_from(["resourceLogs", "resourceSpans"]), JSON, min_size=1))
def test_payloads_of_any_shape_are_survived(payload: dict[str, Any]) -> None:
    assert problems(read(OtlpJsonReader, json.dumps(payload).encode())) == []
