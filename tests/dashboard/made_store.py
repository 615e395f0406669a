"""A small published store of known content, made from finding rows: the pages' logic is tested against numbers set here."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from importlib import resources
from pathlib import Path
from typing import Any

import duckdb
from msgspec import structs

from analysis.findings import (
    CallRow,
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
from ingest.store.migrate import migrate

DAY = datetime(2026, 11, 20, 9, 0, tzinfo=UTC)
GUARDS = ("none", "id-only", "id-breaker", "fingerprint", "any-fingerprint")

HUNG = "11111111-aaaa-4000-8000-000000000001"
STOPPED = "22222222-aaaa-4000-8000-000000000002"
WELL = "33333333-aaaa-4000-8000-000000000003"
SUB_AGENT = f"{WELL}/agent-general-purpose-call_task"
HOSTILE = '44444444-<script>alert(1)</script>"\x1b[31m'
HOSTILE_MODEL = '<a href="https://example.org">**model**</a>'

# recorded id, class, outcome, arguments
Made = tuple[str, str, str, str]


def micros(moment: datetime) -> int:
    return int(moment.timestamp()) * 1_000_000


def session(
    session_id: str,
    calls: Sequence[Made],
    *,
    verdict: str,
    reason: str,
    guard: str,
    version: str,
    model: str = "kimi-k3",
    entry_point: str = "acp",
    day: int = 0,
    tool: str = "run_shell_command",
    parent: str | None = None,
    looping: str | None = None,
) -> SessionFindings:
    """One turn, one call a response, one second apart."""
    start = DAY + timedelta(days=day)
    at = [micros(start + timedelta(seconds=i)) for i in range(len(calls) + 1)]
    found: dict[str, Any] = {name: [] for name in SessionFindings.__struct_fields__}
    found |= {
        "session": SessionRow(
            session_id=session_id, kind="sub-agent" if parent else "main", parent_session_id=parent, client="qwen-code",
            client_version=version, entry_point=entry_point, entry_point_confidence="certain", guard_in_force=guard,
            cwd="/home/someone/shop", started_at=at[0], ended_at=at[-1],
        ),
        "turns": [
            TurnRow(
                session_id=session_id, turn_no=1, origin="sub-agent" if parent else "user", started_at=at[0], ended_at=at[-1],
                model=model, client_version=version, entry_point=entry_point, guard_in_force=guard, responses=len(calls),
                calls=len(calls), verdict=verdict, reason=reason, confidence="certain", evidence=[f"/logs/{version}.jsonl:7"],
                looping=looping,
            )
        ],
        "responses": [
            ResponseRow(session_id=session_id, turn_no=1, response_no=i, ts=at[i - 1], model=model, calls=1, has_text=False)
            for i in range(1, len(calls) + 1)
        ],
        "calls": [
            CallRow(
                session_id=session_id, turn_no=1, response_no=i, call_no=1, ts=at[i - 1], model=model, tool=tool,
                recorded_id=recorded_id, provider_id=recorded_id.split("__")[0],
                id_source="recovered" if "__" in recorded_id else "recorded",
                fingerprint=sha256(args.encode()).digest(), call_class=call_class, outcome=outcome, args_json=args,
                args_bytes=len(args), args_state="whole", part=0, uuid=f"{session_id}-{i}",
                source_path=f"/logs/{version}.jsonl", source_line=2 * i,
            )
            for i, (recorded_id, call_class, outcome, args) in enumerate(calls, 1)
        ],
    }  # fmt: skip
    return SessionFindings(**found)


def three_kinds() -> list[SessionFindings]:
    """A silent hang on fresh calls, a visible stop of a replay, and a session that went well with a sub-agent in it."""
    hung = session(
        HUNG,
        [
            ("shell_0", "first-use", "executed", '{"command":"ls","dir":"/a"}'),
            ("shell_0__qwen_dup_2", "collision", "suppressed", '{"command":"make","dir":"/a"}'),
            ("shell_0__qwen_dup_3", "collision", "dropped", '{"command":"make test"}'),
        ],
        verdict="silent-hang", reason="the breaker ended the turn and nobody was told", guard="id-breaker", version="0.21.10",
    )  # fmt: skip
    hung.decisions += [_decision(HUNG, "id-only", 2, "suppress"), _decision(HUNG, "id-only", 3, "suppress")]
    hung.decisions += [_decision(HUNG, "id-breaker", 2, "suppress"), _decision(HUNG, "id-breaker", 3, "trip")]
    hung.divergences += [_divergence(HUNG, guard, 2) for guard in ("none", "fingerprint", "any-fingerprint")]
    hung.divergences.append(_divergence(HUNG, "id-only", 3))
    hung.trips.append(_trip(HUNG, "id-breaker", "collision", told_user=False))
    hung.findings.append(_finding(HUNG, "silent-hang", 1, "the breaker ended the turn and nobody was told"))

    stopped = session(
        STOPPED,
        [
            ("call_1", "first-use", "executed", '{"command":"ls"}'),
            ("call_1__qwen_dup_2", "replay", "suppressed", '{"command":"ls"}'),
            ("call_1__qwen_dup_3", "replay", "skipped", '{"command":"ls"}'),
        ],
        verdict="stopped-visibly", reason="the breaker ended the turn with an error", guard="fingerprint", version="0.24.4",
        model="qwen3-coder", day=3, looping="replay",
    )  # fmt: skip
    for guard in ("id-breaker", "fingerprint", "any-fingerprint"):
        stopped.decisions += [_decision(STOPPED, guard, 2, "suppress"), _decision(STOPPED, guard, 3, "trip")]
        stopped.trips.append(_trip(STOPPED, guard, "replay", told_user=True, model="qwen3-coder"))
    stopped.loop_events.append(
        LoopEventRow(
            session_id=STOPPED, turn_no=1, loop_type="global_tool_call_duplicate", ts=micros(DAY), explained_by="guard-trip"
        )
    )
    stopped.findings.append(_finding(STOPPED, "guard-trip", 3, "the breaker ended the turn with an error"))

    well = session(
        WELL,
        [
            ("shell_0", "first-use", "executed", '{"command":"ls"}'),
            ("shell_0__qwen_dup_2", "collision", "executed", '{"command":"make"}'),
        ],
        verdict="completed", reason="a final answer", guard="fingerprint", version="0.24.4", entry_point="headless", day=5,
    )  # fmt: skip
    helper = session(
        SUB_AGENT, [("call_9", "first-use", "executed", "{}")],
        verdict="completed", reason="a final answer", guard="fingerprint", version="0.24.4", entry_point="headless", day=5,
        parent=WELL,
    )  # fmt: skip
    return [hung, stopped, well, helper]


def hostile() -> SessionFindings:
    """Everything that a log can name is markup, an escape sequence, or both."""
    made = session(
        HOSTILE, [("<img src=x onerror=alert(1)>", "first-use", "executed", '{"<b>k</b>":"[x](https://example.org)"}')],
        verdict="silent-hang", reason="<script>alert(1)</script> **bold** \x1b[2J", guard="id-breaker", version="0.21.10",
        model=HOSTILE_MODEL, tool="$\\href{x}{y}$ <b>tool</b>", day=1,
    )  # fmt: skip
    made.findings.append(_finding(HOSTILE, "silent-hang", 1, "<script>alert(1)</script> **bold** \x1b[2J"))
    return made


def publish(db: Path, sessions: Sequence[SessionFindings], label: str | None = None) -> Path:
    """The tables as the store makes them, from its own SQL."""
    scripts = resources.files("ingest").joinpath("store")
    with duckdb.connect(str(db)) as con:
        migrate(con, str(db))
        for script in ("findings.sql", "views.sql"):
            con.execute(scripts.joinpath(script).read_text(encoding="utf-8"))
        for guard in GUARDS:
            con.execute("INSERT INTO found_guards VALUES (?, ?, 'built-in')", [guard, f"what {guard} does"])
        if label is not None:
            con.execute("INSERT INTO store_info VALUES ('label', ?)", [label])
        for found in sessions:
            for name in found.__struct_fields__:
                rows = getattr(found, name)
                for row in rows if isinstance(rows, list) else [rows] if rows else []:
                    _insert(con, f"found_{name}", structs.asdict(row))
    return db


def _insert(con: duckdb.DuckDBPyConnection, table: str, row: dict[str, object]) -> None:
    times = {"started_at", "ended_at", "finished_at", "ts"}
    values = ", ".join("make_timestamp(?::BIGINT)" if name in times else "?" for name in row)
    con.execute(f"INSERT INTO {table} ({', '.join(row)}) VALUES ({values})", list(row.values()))


def _decision(session_id: str, guard: str, response_no: int, decision: str) -> DecisionRow:
    return DecisionRow(guard=guard, session_id=session_id, turn_no=1, response_no=response_no, call_no=1, decision=decision)


def _divergence(session_id: str, guard: str, response_no: int) -> DivergenceRow:
    return DivergenceRow(guard=guard, session_id=session_id, turn_no=1, response_no=response_no, call_no=1)


def _trip(session_id: str, guard: str, trip_class: str, *, told_user: bool, model: str = "kimi-k3") -> TripRow:
    return TripRow(
        guard=guard, session_id=session_id, turn_no=1, response_no=3, provider_id="shell_0", tool="run_shell_command",
        model=model, basis="observed", recorded=told_user, told_user=told_user, telemetry="none", trip_class=trip_class,
    )  # fmt: skip


def _finding(session_id: str, kind: str, severity: int, reason: str) -> FindingRow:
    return FindingRow(
        finding_id=f"{kind}-{session_id}", kind=kind, session_id=session_id, turn_no=1, severity=severity, reason=reason,
        confidence="certain", evidence=["/logs/a.jsonl:5", "/logs/a.jsonl:7"], what_to_try="update the client to 0.23 or later",
    )  # fmt: skip
