"""The bookkeeping records of a Qwen Code session log: compactions, and the Events that verdicts and entry points rest on."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import UNSET, Raw, Struct

from ingest.readers.base import FingerprintFunction
from ingest.readers.lenient_json import loads, storable
from ingest.readers.qwen_events import Attributes, from_mapping, number, short, text, to_event
from ingest.readers.qwen_wire import CUT, parts_of
from ingest.records import Compaction, Event, HistoryEntry, Place

UI_TELEMETRY = "ui_telemetry"
COMPRESSION = "chat_compression"


class _Telemetry(Struct, rename="camel"):
    ui_event: Attributes


_decode_telemetry = msgspec.json.Decoder(_Telemetry).decode


class Common(Struct, frozen=True):
    """What each record of the chain carries."""

    place: Place
    session_id: str
    uuid: str | None
    parent_uuid: str | None
    ts: int | None
    version: str | None
    cwd: str | None
    forked_from: str | None


def telemetry_event(common: Common, payload: Raw) -> Event:
    try:
        told = _decode_telemetry(payload).ui_event
    except msgspec.MsgspecError:
        told = from_mapping(_object(_members(payload).get("uiEvent")))
    return to_event(
        told,
        channel="log",
        name=told.event_name or UI_TELEMETRY,
        place=common.place,
        session_id=common.session_id,
        uuid=common.uuid,
        parent_uuid=common.parent_uuid,
        ts=common.ts,
        version=common.version,
        cwd=common.cwd,
        forked_from=common.forked_from,
    )


def compaction(common: Common, payload: Raw, fingerprint: FingerprintFunction) -> Compaction:
    """Texts are dropped: only calls and answers say which ids the model's history still holds."""
    history = _members(payload).get("compressedHistory")
    entries: list[HistoryEntry] = []
    for content in history if isinstance(history, list) else ():
        for part in parts_of(_object(content).get("parts"), exact=True) or ():
            if (call := part.function_call) is not None:
                known = call.args is not UNSET and call.args is not CUT
                digest = fingerprint(call.name, call.args)[0] if known else None
                entries.append(HistoryEntry("call", call.id, call.name, digest))
            if (answer := part.function_response) is not None:
                entries.append(HistoryEntry("answer", answer.id, answer.name))
    return Compaction(**_fields(common), entries=tuple(entries))


def bookkeeping_event(common: Common, name: str, payload: Raw) -> Event:
    """Any other record of type `system`, or of type `user` with a subtype that puts nothing to the model."""
    details = _DETAILS.get(name)
    if details is None:
        return Event(**_fields(common), channel="log", name=storable(name))
    return Event(**_fields(common), channel="log", name=name, **details(_members(payload)))


def _turn_result(payload: dict[str, Any]) -> dict[str, Any]:
    error = _object(payload.get("error"))
    started, ended = number(payload.get("startedAt")), number(payload.get("endedAt"))
    return {
        "prompt_id": text(payload.get("promptId")),
        "status": text(payload.get("state")),
        "error_class": text(error.get("code")),
        "message": short(text(error.get("message"))),
        "duration_ms": ended - started if started is not None and ended is not None else None,
        "attributes": _texts(payload, "stopReason"),
    }


def _file_history_snapshot(payload: dict[str, Any]) -> dict[str, Any]:
    snapshots = payload.get("snapshots")
    last = _object(snapshots[-1]) if isinstance(snapshots, list) and snapshots else {}
    return {"prompt_id": text(last.get("promptId"))}


def _background_task(payload: dict[str, Any]) -> dict[str, Any]:
    task = _object(payload.get("backgroundTask"))
    return {
        "prompt_id": text(task.get("sourceTurnId")),
        "status": text(task.get("status")),
        "attributes": _texts(task, "taskId", "toolUseId"),
    }


def _rewind(payload: dict[str, Any]) -> dict[str, Any]:
    return {"attributes": _texts(payload, "truncatedCount")}


def _slash_command(payload: dict[str, Any]) -> dict[str, Any]:
    return {"status": text(payload.get("phase"))}


_DETAILS = {
    "turn_result": _turn_result,
    "file_history_snapshot": _file_history_snapshot,
    "background_task_completed": _background_task,
    "rewind": _rewind,
    "slash_command": _slash_command,
}


def _fields(common: Common) -> dict[str, Any]:
    return {name: getattr(common, name) for name in Common.__struct_fields__}


def _members(payload: Raw) -> dict[str, Any]:
    try:
        return _object(loads(bytes(payload)))
    except ValueError:
        return {}


def _object(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _texts(payload: dict[str, Any], *names: str) -> dict[str, str]:
    return {name: value[:200] for name in names if (value := text(payload.get(name))) is not None}
