"""What this project reads out of a log that the client's functions shaped, against what they decided."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from analysis.analyse import analyse
from analysis.findings import SessionFindings
from analysis.fingerprint import fingerprint
from ingest.readers.qwen_chat import QwenChatReader
from ingest.records import AnyRecord, SessionFacts


def differences(answer: dict[str, Any]) -> Iterator[str]:
    """In what the analysis of the answer's log differs from the answer's decisions. Empty where all agree."""
    found = _analysed(answer["records"])
    told = {(record_line(call["uuid"]), call["part"]): call for call in answer["decisions"]}
    assert found.session is not None
    guard = found.session.guard_in_force
    decided = {(d.turn_no, d.response_no, d.call_no): d.decision for d in found.decisions if d.guard == guard}
    for call in found.calls:
        truth = told.get((call.source_line, call.part))
        at = f"line {call.source_line} call {call.recorded_id}"
        if truth is None:
            yield f"{at}: not a call of the client's"
            continue
        decision = decided.get((call.turn_no, call.response_no, call.call_no), "execute")
        if decision != truth["decision"]:
            yield f"{at}: guard {guard} decides {decision}, the client {truth['decision']}"
        if call.provider_id not in (None, truth["raw"]):
            yield f"{at}: provider id {call.provider_id}, the client's {truth['raw']}"
    yield from (f"guard {guard} diverges at turn {d.turn_no}" for d in found.divergences if d.guard == guard)


def live_calls(answer: dict[str, Any]) -> int:
    return len(_analysed(answer["records"]).calls)


def record_line(uuid: str) -> int:
    """The asked client numbers its records."""
    return int(uuid.removeprefix("u"))


def _analysed(records: list[dict[str, Any]]) -> SessionFindings:
    reader = QwenChatReader("/chats/asked.jsonl", fingerprint)
    log = "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records).encode()
    rows = [*reader.feed(log), *reader.finish()]
    sound = tuple(row for row in rows if isinstance(row, AnyRecord))
    if len(sound) != len(records):
        raise ValueError(f"the reader took {len(sound)} of {len(records)} records")
    facts = SessionFacts(session_id="asked", kind="main", parent_session_id=None, client="qwen-code", records=sound, events=())
    return analyse(facts)
