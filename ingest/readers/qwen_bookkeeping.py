"""The bookkeeping records of a Qwen Code session log: compactions, and the Events that verdicts and entry points rest on."""

from __future__ import annotations

from typing import Any

from msgspec import UNSET

from ingest.readers.base import FingerprintFunction
from ingest.readers.lenient_json import storable
from ingest.readers.qwen_events import Frame, number, short, text, to_event
from ingest.readers.qwen_wire import CUT, WirePayload
from ingest.records import Compaction, Event, HistoryEntry

UI_TELEMETRY = "ui_telemetry"
COMPRESSION = "chat_compression"


_NO_PAYLOAD = WirePayload()


def telemetry_event(frame: Frame, payload: WirePayload | None) -> Event:
    told = payload.ui_event if payload is not None else None
    if told is None:
        return Event(*frame, "log", UI_TELEMETRY)
    return to_event(told, frame, "log", told.event_name or UI_TELEMETRY)


def compaction(frame: Frame, payload: WirePayload | None, fingerprint: FingerprintFunction) -> Compaction:
    """Texts are dropped: only calls and answers say which ids the model's history still holds."""
    entries: list[HistoryEntry] = []
    for message in (payload or _NO_PAYLOAD).compressed_history or ():
        for part in message.parts or ():
            if (call := part.function_call) is not None:
                known = call.args is not UNSET and call.args is not CUT
                digest = fingerprint(call.name, call.args)[0] if known else None
                entries.append(HistoryEntry("call", call.id, call.name, digest))
            if (answer := part.function_response) is not None:
                entries.append(HistoryEntry("answer", answer.id, answer.name))
    return Compaction(*frame, tuple(entries))


def bookkeeping_event(frame: Frame, name: str, payload: WirePayload | None) -> Event:
    """Any other record of type `system`, or of type `user` with a subtype that puts nothing to the model."""
    details = _DETAILS.get(name)
    if details is None:
        return Event(*frame, "log", storable(name))
    return Event(*frame, "log", name, **details(payload or _NO_PAYLOAD))


def _turn_result(payload: WirePayload) -> dict[str, Any]:
    error = _object(payload.error)
    started, ended = number(payload.started_at), number(payload.ended_at)
    return {
        "prompt_id": text(payload.prompt_id),
        "status": text(payload.state),
        "error_class": text(error.get("code")),
        "message": short(text(error.get("message"))),
        "duration_ms": ended - started if started is not None and ended is not None else None,
        "attributes": _texts(stopReason=payload.stop_reason),
    }


def _file_history_snapshot(payload: WirePayload) -> dict[str, Any]:
    snapshots = payload.snapshots
    last = _object(snapshots[-1]) if isinstance(snapshots, list) and snapshots else {}
    return {"prompt_id": text(last.get("promptId"))}


def _background_task(payload: WirePayload) -> dict[str, Any]:
    task = _object(payload.background_task)
    return {
        "prompt_id": text(task.get("sourceTurnId")),
        "status": text(task.get("status")),
        "attributes": _texts(taskId=task.get("taskId"), toolUseId=task.get("toolUseId")),
    }


def _rewind(payload: WirePayload) -> dict[str, Any]:
    return {"attributes": _texts(truncatedCount=payload.truncated_count)}


def _slash_command(payload: WirePayload) -> dict[str, Any]:
    return {"status": text(payload.phase)}


_DETAILS = {
    "turn_result": _turn_result,
    "file_history_snapshot": _file_history_snapshot,
    "background_task_completed": _background_task,
    "rewind": _rewind,
    "slash_command": _slash_command,
}


def _object(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _texts(**members: object) -> dict[str, str]:
    return {name: told[:200] for name, value in members.items() if (told := text(value)) is not None}
