"""A history as small as a test case: what a guard's own test-suite, or another run of loopscope, replays.

Only what can bear on a decision is in it: ids, tool names and arguments by what is equal to what, the order, how each call was
answered, prompts and compactions. `decisions` says what the guards named there decided, a list a response.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec
from msgspec import Struct, field

FORMAT = "loopscope-guard-case"
FORMAT_VERSION = 1

Answered = Literal["ok", "error", "cancelled", "duplicate", "loop-skip", "skipped", "interrupted"]


class CaseCall(Struct, omit_defaults=True):
    id: str | None
    """As the provider sent it; None: it sent none."""
    name: str
    arguments: Any = None
    """None where they are not known."""
    answered: Answered | None = None
    """How; None: never."""


class KeptCall(Struct, omit_defaults=True):
    """A call that a compaction kept in the history."""

    id: str | None
    name: str
    arguments: Any = None
    is_answered: bool = True


class ResponseStep(Struct, tag_field="step", tag="response"):
    calls: list[CaseCall]


class CompactionStep(Struct, tag_field="step", tag="compaction"):
    kept: list[KeptCall]


class PromptStep(Struct, tag_field="step", tag="prompt"):
    origin: Literal["user", "cron", "notification", "sub-agent"] = "user"


Step = PromptStep | ResponseStep | CompactionStep


class GuardCase(Struct, kw_only=True):
    format: str = FORMAT
    format_version: int = FORMAT_VERSION
    about: str = ""
    client_version: str | None = None
    """Says which guard was in force, and so what the answers of the history follow from."""
    entry_point: str = "headless"
    steps: list[Step]
    decisions: dict[str, list[list[str]]] = field(default_factory=dict)


class BadCase(ValueError):
    """The text says what is wrong with the file."""


_decode = msgspec.json.Decoder(GuardCase).decode


def read_case(text: bytes) -> GuardCase:
    """Raises BadCase."""
    try:
        case = _decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError) as e:
        raise BadCase(f"it is no test case: {e}") from e
    if (case.format, case.format_version) != (FORMAT, FORMAT_VERSION):
        raise BadCase(f"it is {case.format!r} version {case.format_version}, and not {FORMAT!r} version {FORMAT_VERSION}")
    if not case.steps or not isinstance(case.steps[0], PromptStep):
        raise BadCase("its first step is no prompt")
    return case


def written(case: GuardCase) -> bytes:
    """A step a line: short enough to read, and a change shows as a line."""
    head = {
        "format": case.format,
        "format_version": case.format_version,
        "about": case.about,
        "client_version": case.client_version,
        "entry_point": case.entry_point,
    }
    lines = [f"  {_json(name)}: {_json(value)}" for name, value in head.items()]
    lines.append('  "steps": [\n' + ",\n".join(f"    {_json(step)}" for step in case.steps) + "\n  ]")
    decisions = ",\n".join(f"    {_json(guard)}: {_json(decided)}" for guard, decided in case.decisions.items())
    lines.append('  "decisions": {\n' + decisions + "\n  }")
    return ("{\n" + ",\n".join(lines) + "\n}\n").encode()


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()
