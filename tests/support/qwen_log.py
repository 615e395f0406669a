"""A log as that headless Qwen Code writes: records chained by parentUuid, told events in between.

Each response and each call that was run is told twice, as in a real log: once by its record and before it by a `ui_telemetry`
event, which must count for nothing.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.support.log_script import Answer, FinalAnswer, Log, Prompt, RequestRefused, Round, Use

START = datetime(2026, 12, 1, 10, tzinfo=UTC)


def qwen_log(session_id: str, log: Log) -> bytes:
    writer = _Writer(session_id, log.version)
    for step in log.steps:
        match step:
            case Prompt():
                writer.prompt()
            case Round():
                writer.round(step)
            case FinalAnswer():
                writer.response("kimi-k3", [{"text": "All done."}])
            case RequestRefused(message):
                writer.event("api_error", error_message=message, error_type="BadRequest", status_code=400)
    return b"".join(json.dumps(record).encode() + b"\n" for record in writer.records)


class _Writer:
    def __init__(self, session_id: str, version: str) -> None:
        self.session_id = session_id
        self.version = version
        self.records: list[dict[str, Any]] = []
        self._prompts = 0

    def record(self, type_: str, **members: Any) -> None:
        number = len(self.records) + 1
        self.records.append(
            {
                "uuid": f"{self.session_id}-{number}",
                "parentUuid": f"{self.session_id}-{number - 1}" if number > 1 else None,
                "sessionId": self.session_id,
                "timestamp": (START + timedelta(seconds=number)).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
                "type": type_,
                "cwd": "/p",
                "version": self.version,
                **members,
            }
        )

    def event(self, name: str, **attributes: Any) -> None:
        told = {"event.name": f"qwen-code.{name}", "prompt_id": f"{self.session_id}########{self._prompts}", **attributes}
        self.record("system", subtype="ui_telemetry", systemPayload={"uiEvent": told})

    def prompt(self) -> None:
        self._prompts += 1
        self.record("user", message={"role": "user", "parts": [{"text": "please go on"}]})
        self.record("system", subtype="attribution_snapshot", systemPayload={"snapshot": {"promptCount": self._prompts}})

    def response(self, model: str, parts: list[dict[str, Any]]) -> None:
        self.event("api_response", model=model, status_code=200, duration_ms=20)
        usage = {"promptTokenCount": 100, "candidatesTokenCount": 10}
        self.record("assistant", model=model, message={"role": "model", "parts": parts}, usageMetadata=usage)

    def round(self, step: Round) -> None:
        text = [{"text": "Let me look."}] if step.has_text else []
        self.response(step.model, text + [_call_part(use) for use in step.calls])
        by_id = {use.id: use for use in step.calls}
        for answer in step.answers:
            if answer.started:
                use = by_id.get(answer.id)
                args = (use.executed_args or use.args) if use is not None else None
                self.event("tool_call", function_name=answer.tool, function_args=args or {}, status=answer.status)
            self._answer(answer)

    def _answer(self, answer: Answer) -> None:
        response = {"output" if answer.status == "success" else "error": answer.text}
        part = {"functionResponse": _without_none({"id": answer.id, "name": answer.tool, "response": response})}
        outcome = {"callId": answer.id, "status": answer.status, "errorType": answer.error_type}
        if not answer.started:
            outcome["executionStatus"] = "not_started"
        self.record("tool_result", message={"role": "user", "parts": [part]}, toolCallResult=_without_none(outcome))


def _call_part(use: Use) -> dict[str, Any]:
    return {"functionCall": _without_none({"id": use.id, "name": use.tool, "args": use.args})}


def _without_none(members: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in members.items() if value is not None}
