"""A log as data: what was asked, called and answered. `qwen_log` turns it into bytes, `tests.cases.as_records` into records.

Calls carry the id as the log has it: a client with a guard writes down a repeated id with its suffix, and that belongs to
the shape of a log.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from ingest.records import ArgsState

SHELL = "run_shell_command"
A, B, C = {"command": "make one"}, {"command": "make two"}, {"command": "make three"}
"""Arguments of three different calls."""

LOOP_SKIP = "Skipped because loop detection stopped the current turn before this tool call could run."
NOT_RECORDED = (
    "Tool execution result was not recorded \u2014 likely interrupted by network failure, abort, or process exit."
    " Treat as failure and retry if needed."
)


@dataclass(frozen=True)
class Use:
    """One call of a response."""

    id: str | None
    """None: the response names none."""
    args: Mapping[str, Any] | None
    """None: the response holds none."""
    tool: str | None = SHELL
    executed_args: Mapping[str, Any] | None = None
    """What the tool was run with, where a hook changed it; the client's tool_call event tells it."""
    provider_id: str | None = None
    """Records only: where a log tells it apart from its own id."""
    args_state: ArgsState = "whole"
    """Records only."""


@dataclass(frozen=True)
class Answer:
    id: str | None
    text: str = "ok"
    status: Literal["success", "error", "cancelled"] = "success"
    error_type: str | None = None
    started: bool = True
    """False: the client wrote the answer in place of running the tool."""
    tool: str = SHELL


@dataclass(frozen=True)
class Prompt:
    """A person's; it starts a turn."""


@dataclass(frozen=True)
class Round:
    """One response with its calls, then the answers; by default each call is run and succeeds."""

    calls: tuple[Use, ...]
    answers: tuple[Answer, ...]
    model: str = "kimi-k3"
    has_text: bool = False


@dataclass(frozen=True)
class FinalAnswer:
    """A response of text alone."""


@dataclass(frozen=True)
class RequestRefused:
    """The provider refused the request that had to follow."""

    message: str


Step = Prompt | Round | FinalAnswer | RequestRefused


@dataclass(frozen=True)
class Log:
    steps: tuple[Step, ...]
    version: str = "0.15.10"
    """By default a client without a guard: it ran everything, so only the replay decides anything."""
    on_disk: bool = True
    """In Qwen Code's format; False where that client cannot come to write such a thing: then as common records."""


def answered(*calls: Use, by: tuple[Answer, ...] | None = None, model: str = "kimi-k3", has_text: bool = False) -> Round:
    answers = tuple(ok(call.id, tool=call.tool or SHELL) for call in calls) if by is None else by
    return Round(calls, answers, model, has_text)


def in_rounds(*calls: Use) -> tuple[Round, ...]:
    """One call a response, each run."""
    return tuple(answered(call) for call in calls)


def ok(call_id: str | None, text: str = "ok", *, tool: str = SHELL) -> Answer:
    return Answer(call_id, text, tool=tool)


def failed(call_id: str | None, text: str, error_type: str, *, tool: str = SHELL) -> Answer:
    return Answer(call_id, text, "error", error_type, tool=tool)


def not_started(call_id: str, text: str, error_type: str) -> Answer:
    return replace(failed(call_id, text, error_type), started=False)


def cancelled(call_id: str) -> Answer:
    return Answer(call_id, "[Operation Cancelled] Reason: the person said so", "cancelled", started=False)


def duplicate(call_id: str, provider_id: str, *, reissue: bool) -> Answer:
    """The guard's synthetic answer. reissue: with the second sentence, which only the guard by fingerprint writes."""
    text = (
        f'Duplicate provider tool call id "{provider_id}" was already handled.'
        " The duplicate tool call was ignored and not executed again."
    )
    if reissue:
        text += (
            " If you intended to run this tool again, re-issue the call with a new unique tool-call id"
            " (or explicitly different arguments)."
        )
    return not_started(call_id, text, "execution_failed")
