"""Findings of known content, one row of each kind a turn, in a published store: what filters and queries are counted on."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from msgspec import structs

from analysis.findings import (
    CallRow,
    DeadCallRow,
    DecisionRow,
    DivergenceRow,
    FindingRow,
    LoopEventRow,
    ResponseRow,
    SessionFindings,
    SessionRow,
    TripRow,
    TurnRow,
)
from ingest.analysing import finding_columns
from ingest.store.columns import insert_columns
from ingest.store.findings import renew_findings
from ingest.store.writable import WritableStore

GUARDS = (("id-breaker", "by id alone", "built-in"), ("fingerprint", "by id and arguments", "built-in"))
NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)


def micros(moment: datetime) -> int:
    return int(moment.timestamp() * 1_000_000)


def session(
    session_id: str,
    *,
    start: datetime = NOON,
    models: Sequence[str] = ("kimi-k3",),
    version: str = "0.24.4",
    client: str = "qwen-code",
    cwd: str = "/code/shop",
    parent: str | None = None,
    **of_last_turn: Any,
) -> SessionFindings:
    """A turn a model, an hour apart and ten minutes long; each turn with one response, call, decision, trip and so on.

    of_last_turn: fields of the last TurnRow, such as its verdict. One finding, loop event and dead call have no turn.
    """
    turns = list(enumerate(models, 1))
    starts = {no: start + timedelta(hours=no - 1) for no, _ in turns}
    ends = {no: starts[no] + timedelta(minutes=10) for no, _ in turns}

    def at(no: int) -> dict[str, Any]:
        return {"session_id": session_id, "turn_no": no}

    def call(no: int) -> dict[str, Any]:
        return {**at(no), "response_no": 1, "call_no": 1}

    rows: dict[str, Any] = {
        "session": SessionRow(
            session_id=session_id,
            kind="sub-agent" if parent else "main",
            parent_session_id=parent,
            client=client,
            client_version=version,
            entry_point="acp",
            entry_point_confidence="certain",
            guard_in_force="id-breaker",
            cwd=cwd,
            started_at=micros(start),
            ended_at=micros(ends[len(models)]),
        ),
        "turns": [
            TurnRow(
                **at(no),
                origin="user",
                started_at=micros(starts[no]),
                ended_at=micros(ends[no]),
                model=model,
                client_version=version,
                entry_point="acp",
                guard_in_force="id-breaker",
                responses=1,
                calls=1,
                verdict="completed",
                reason="a final answer",
                confidence="certain",
                evidence=[f"/logs/{session_id}.jsonl:{no}"],
            )
            for no, model in turns
        ],
        "responses": [
            ResponseRow(**at(no), response_no=1, ts=micros(starts[no]), model=model, calls=1, has_text=False)
            for no, model in turns
        ],
        "calls": [
            CallRow(
                **call(no),
                ts=micros(starts[no]),
                model=model,
                tool="run_shell_command",
                recorded_id=f"call_{no}",
                provider_id=f"call_{no}",
                id_source="recorded",
                fingerprint=bytes([no]) * 32,
                call_class="first-use",
                outcome="executed",
                args_json='{"command":"ls"}',
                args_bytes=16,
                args_state="whole",
                part=0,
                source_path=f"/logs/{session_id}.jsonl",
                source_line=no,
            )
            for no, model in turns
        ],
        "dead_calls": [
            DeadCallRow(
                session_id=session_id,
                tool="run_shell_command",
                args_json="{}",
                args_bytes=2,
                source_path=f"/logs/{session_id}.jsonl",
                source_line=99,
            )
        ],
        "decisions": [DecisionRow(guard="id-breaker", **call(no), decision="trip") for no, _ in turns],
        "divergences": [DivergenceRow(guard="id-breaker", **call(no)) for no, _ in turns],
        "trips": [
            TripRow(
                guard="id-breaker",
                **at(no),
                response_no=1,
                model=model,
                basis="observed",
                recorded=False,
                telemetry="none",
                trip_class="collision",
            )
            for no, model in turns
        ],
        "loop_events": [
            LoopEventRow(session_id=session_id, turn_no=no, loop_type="t", explained_by="unmatched") for no in (*starts, None)
        ],
        "findings": [finding(session_id, no) for no in (*starts, None)],
    }
    found = SessionFindings(**{name: rows.get(name, []) for name in SessionFindings.__struct_fields__})
    found.turns[-1] = structs.replace(found.turns[-1], **of_last_turn)
    return found


def finding(session_id: str, turn_no: int | None, kind: str = "replay-loop", severity: int = 2) -> FindingRow:
    return FindingRow(
        finding_id=f"{session_id}-{turn_no}-{kind}",
        kind=kind,
        session_id=session_id,
        turn_no=turn_no,
        severity=severity,
        reason="because",
        confidence="certain",
        evidence=["/a/long/way/to/chats/log.jsonl:7"],
        what_to_try="look at it",
    )


def publish(db: Path, *sessions: SessionFindings) -> Path:
    with WritableStore(db) as store:
        renew_findings(store, 1, GUARDS)
        with store.change() as con:
            for table, batches in finding_columns(sessions).items():
                insert_columns(con, table, batches)
        store.publish()
    return db
