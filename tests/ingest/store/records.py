"""Records of every type with every field set, and a store of them, for the tests beside this file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ingest.records import (
    AnyRecord,
    Call,
    CardEvent,
    Compaction,
    Event,
    HistoryEntry,
    Place,
    Prompt,
    Response,
    Result,
    SourceRecord,
)
from ingest.store.columns import insert_columns
from ingest.store.facts import FactRows
from ingest.store.sources import SourceRow, replace_source_rows
from ingest.store.writable import WritableStore

NOW = 1_796_061_863_386_123


def place(source: str, line: int) -> Place:
    return Place(source, offset=line * 100, length=99, line=line)


def common(source: str, line: int, session_id: str = "s", **changed: Any) -> dict[str, Any]:
    values: dict[str, Any] = {
        "place": place(source, line),
        "session_id": session_id,
        "uuid": f"u{line}",
        "parent_uuid": f"u{line - 1}",
        "ts": NOW + line,
        "version": "0.24.4",
        "cwd": "/home/x",
        "forked_from": None,
    }
    return values | changed


def every_kind(source: str, session_id: str = "s") -> list[AnyRecord]:
    """In the chain, with all fields set."""
    return [
        Prompt(**common(source, 1, session_id, parent_uuid=None), origin="cron", prompt_id="p"),
        Response(
            **common(source, 2, session_id, forked_from="other"),
            model="kimi-k3",
            provider="moonshot",
            response_id="r",
            round_key="agent#1",
            tokens_in=10,
            tokens_out=20,
            tokens_cached=5,
            stop_reason="tool_calls",
            has_text=True,
            has_thought=True,
            calls=(
                Call("id_0", "glob", part=1, fingerprint=b"\x00" * 32, provider_id="id_0", args_json='{"a":1}', args_bytes=7),
                Call(None, "edit", part=2, args_state="redacted"),
            ),
        ),
        Result(
            **common(source, 3, session_id),
            recorded_id="id_0",
            tool="glob",
            part=1,
            answer="duplicate",
            quoted_id="id_0",
            guard_hint="fingerprint",
            status="error",
            error_class="EXEC",
            execution_status="done",
            digest=b"\xff\x00",
            stable_digest=b"\x01",
            error_line="it broke",
            bytes=12,
            duration_ms=1.5,
        ),
        Result(**common(source, 3, session_id), recorded_id=None, part=2),
        Compaction(
            **common(source, 4, session_id),
            entries=(HistoryEntry("call", "id_0", "glob", b"\x01" * 32), HistoryEntry("answer", "id_0")),
        ),
        Event(
            **common(source, 5, session_id),
            channel="log",
            name="api_response",
            prompt_id="p",
            model="m",
            response_id="r",
            call_id="c",
            tool="t",
            status="ok",
            error_class="E",
            message="text",
            duration_ms=2.5,
            loop_type="consecutive_identical_tool_calls",
            attributes={"a": "b", "": ""},
        ),
    ]


def whole_card(source: str, line: int) -> CardEvent:
    """With all fields set."""

    return CardEvent(
        **common(source, line, uuid=None, parent_uuid=None),
        surface="acp",
        kind="delta",
        card_id="t1",
        tool="glob",
        round_no=3,
        stream="x",
        stream_index=0,
        args_json='{"a":1}',
        fingerprint=b"\x00" * 32,
        status="pending",
        result_lines=183,
        prompt_id="p",
    )


def telemetry(source: str, line: int, session_id: str = "s", **more: Any) -> Event:
    values = common(source, line, session_id, uuid=None, parent_uuid=None)
    channel = more.pop("channel", "telemetry")
    name = more.pop("name", "api_request")
    return Event(**(values | more), channel=channel, name=name)


def put(store: WritableStore, source_id: int, source: str, records: Sequence[SourceRecord], size: int = 1000) -> None:
    """One source with these records in this order."""
    facts = FactRows()
    facts.add_piece(source_id, 0, records)
    row = SourceRow(
        source_id=source_id,
        source_path=source,
        format="toy",
        client="qwen-code",
        root=str(Path(source).parent),
        bytes=size,
        read_bytes=size,
        records=len(records),
        status="complete",
        read_at=NOW,
        mtime_ns=1,
        ctime_ns=2,
        inode=3,
        reader_version=1,
    )
    with store.change() as con:
        for table, batches in facts.columns().items():
            insert_columns(con, table, batches)
        replace_source_rows(con, [row])
