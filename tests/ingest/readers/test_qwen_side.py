"""The files beside the logs, as 0.24.4 wrote them."""

from __future__ import annotations

import json

import pytest

from ingest.readers.base import Reader
from ingest.readers.qwen_side import QwenAgentMetaReader, QwenLedgerReader, QwenRuntimeReader, QwenUsageReader
from ingest.records import Event
from tests.ingest.readers.reading import CHATS, DATA, PARENT, SESSION, SUBAGENTS, kinds, problems, read, records


def events(reader: type[Reader], data: bytes, source: str) -> list[Event]:
    return [row for row in records(read(reader, data, source)) if isinstance(row, Event)]


def test_ledger() -> None:
    path = CHATS / f"{SESSION}.ledger.jsonl"
    rows = events(QwenLedgerReader, path.read_bytes(), str(path))
    prompt_id = "12e57224-7e64-4812-9a68-a0efb67f2c9b"
    assert [(row.session_id, row.prompt_id, row.status, row.error_class) for row in rows] == [
        (SESSION, prompt_id, "in_flight", None),
        (SESSION, prompt_id, "error", "-32603"),
    ]
    assert [row.ts for row in rows] == [1796061863386000, 1796061864371000]
    assert [(row.place.line, row.name, row.channel, row.uuid) for row in rows] == [
        (1, "ledger", "side", None),
        (2, "ledger", "side", None),
    ]


def test_agent_meta_goes_to_the_sub_agents_session() -> None:
    path = SUBAGENTS / "agent-general-purpose-call_task.meta.json"
    (row,) = events(QwenAgentMetaReader, path.read_bytes(), str(path))
    assert row.session_id == f"{PARENT}/agent-general-purpose-call_task"
    assert (row.name, row.status, row.message) == ("agent-meta", "failed", "Agent terminated with mode: LOOP_DETECTED")
    assert (row.model, row.ts) == ("kimi-k3", 1_796_061_127_546_000)  # 2026-11-30T17:52:07.546Z
    assert row.attributes == {
        "agentId": "general-purpose-call_task",
        "agentType": "general-purpose",
        "toolUseId": "call_task",
        "parentSessionId": PARENT,
    }


def test_runtime() -> None:
    (path,) = CHATS.glob("*.runtime.json")
    (row,) = events(QwenRuntimeReader, path.read_bytes(), str(path))
    assert (row.session_id, row.version, row.cwd, row.ts) == (
        "7c717545-7775-4999-ab75-ab7c400df19f",
        "0.24.4",
        "/workspace/demo",
        1796061363677000,
    )
    assert row.attributes == {"pid": "26918", "hostname": "vm"}


def test_usage() -> None:
    (row,) = events(QwenUsageReader, (DATA / "usage_record.jsonl").read_bytes(), "/x/usage_record.jsonl")
    assert (row.session_id, row.name, row.ts) == ("7c717545-7775-4999-ab75-ab7c400df19f", "usage", 1796061380187000)
    assert (row.cwd, row.duration_ms) == ("/workspace/demo", 17400)


@pytest.mark.parametrize("reader", [QwenLedgerReader, QwenUsageReader, QwenAgentMetaReader, QwenRuntimeReader])
def test_other_json_is_foreign_and_nothing_raises(reader: type[Reader]) -> None:
    assert kinds(read(reader, b'{"a": 1}\n')) == ["foreign-record"]
    assert kinds(read(reader, b'{"a": ')) == ["torn-tail"]
    assert read(reader, b"") == []
    assert len(kinds(read(reader, b"\xff\xfe{]"))) >= 1


def test_a_meta_file_caught_in_the_writing_is_pending() -> None:
    text = json.dumps({"agentId": "a", "parentSessionId": "p"}).encode()
    assert kinds(read(QwenAgentMetaReader, text[:-1], "/x/agent-a.meta.json")) == ["torn-tail"]
    assert len(events(QwenAgentMetaReader, text, "/x/agent-a.meta.json")) == 1


def test_a_meta_file_of_many_megabytes_is_none_and_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ingest.readers.qwen_side._LONGEST_FILE", 1000)
    rows = read(QwenAgentMetaReader, b"[" * 1500, chunk=400)
    assert [(problem.kind, problem.detail) for problem in problems(rows)] == [("too-long", "1500 bytes, read are 1000 at most")]


@pytest.mark.parametrize("reader", [QwenLedgerReader, QwenUsageReader])
def test_inner_objects_of_a_torn_line_are_no_records(reader: type[Reader]) -> None:
    torn = b'{"version":1,"sessionId":"s","tools":{"calls":{},"names":[{"n":1}]},"durationMs":5'
    assert kinds(read(reader, torn)) == ["torn-tail"]
    assert kinds(read(reader, torn + b"\n")) == ["damaged"]
