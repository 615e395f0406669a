"""What a case of damage is: files below a folder of its own, and all that has to be said of them.

A session's id is the name of its case, or begins with it, so that a case's rows can be told from the others' in one store.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.cases.case import FIRST
from tests.support.log_script import FinalAnswer, Log, Prompt, Use, answered
from tests.support.qwen_log import qwen_log

CHATS = "projects/-p/chats"


@dataclass(frozen=True, kw_only=True)
class Seen:
    """What the views say of a session; by default what they say of `healthy_lines`."""

    classes: tuple[str, ...] = (FIRST,) * 4
    outcomes: tuple[str, ...] | None = None
    """None: all executed."""
    turns: int = 2
    verdict: str = "completed"
    kind: str = "main"


@dataclass(frozen=True, kw_only=True)
class DamageCase:
    name: str
    """The case's number and what this form of it is about; also its folder."""
    reports: str
    files: Mapping[str, bytes]
    """By path below the case's folder."""
    links: Mapping[str, str] = field(default_factory=dict)
    """Symbolic link -> what it points to, both below the case's folder."""
    sessions: Mapping[str, Seen] | None = None
    """By what stands behind the case's name in the id. None: the one session of `healthy_lines`, as if nothing were wrong."""
    problems: Sequence[tuple[str, int, str, str]] = ()
    """End of the path, line, kind, and what the detail has to name; in the order of the lines. All there are."""
    statuses: Mapping[str, str] = field(default_factory=dict)
    """Path below the folder -> status of the source; all others are `complete`."""
    skipped: Mapping[str, str] = field(default_factory=dict)
    """Path below the folder -> what the reason has to name; all that the run told of as skipped."""

    @property
    def expected(self) -> dict[str, Seen]:
        sessions = {"": Seen()} if self.sessions is None else self.sessions
        return {self.name + rest: seen for rest, seen in sessions.items()}


HEALTHY = Log(
    (
        Prompt(),
        answered(Use("c1", {"command": "make one"})),
        answered(Use("c2", {"command": "make two"}), Use("c3", {"command": "make three"})),
        FinalAnswer(),
        Prompt(),
        answered(Use("c4", {"command": "make four"})),
        FinalAnswer(),
    )
)


def healthy_lines(session_id: str, log: Log = HEALTHY) -> list[bytes]:
    """Lines of a session log without their newlines."""
    return qwen_log(session_id, log).split(b"\n")[:-1]


def whole(lines: Sequence[bytes]) -> bytes:
    return b"".join(line + b"\n" for line in lines)


def changed(line: bytes, **members: Any) -> bytes:
    """The record with these members; None takes one out."""
    record = {**json.loads(line), **members}
    return json.dumps({name: value for name, value in record.items() if value is not None}).encode()


def records(lines: Sequence[bytes]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in lines]


def first(lines: Sequence[bytes], type_: str, nth: int = 0) -> int:
    """Index of the nth record of the type."""
    return [at for at, record in enumerate(records(lines)) if record["type"] == type_][nth]
