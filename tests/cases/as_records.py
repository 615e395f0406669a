"""A log as common records: for what Qwen Code cannot come to write, such as two calls of one id in one response."""

from __future__ import annotations

from msgspec.structs import replace

from ingest.records import Call, SessionFacts
from tests.support.log_script import FinalAnswer, Log, Prompt, RequestRefused, Round, Use
from tests.support.session_log import SessionLog, call


def as_records(session_id: str, log: Log) -> SessionFacts:
    built = SessionLog(session_id, log.version)
    for step in log.steps:
        match step:
            case Prompt():
                built.prompt()
            case Round():
                built.response(*(_call(use, part) for part, use in enumerate(step.calls)), text=step.has_text)
                for answer in step.answers:
                    built.answer(answer.id, tool=answer.tool, status=answer.status)
            case FinalAnswer():
                built.response(text=True)
            case RequestRefused():
                raise ValueError("a refused request is an event of Qwen Code's log: write the case on disk")
    return built.facts()


def _call(use: Use, part: int) -> Call:
    built = call(use.id, dict(use.args or {}), tool=use.tool or "", part=part)
    is_whole = use.args_state == "whole"
    return replace(
        built,
        provider_id=use.provider_id,
        args_state=use.args_state,
        fingerprint=built.fingerprint if is_whole else None,
    )
