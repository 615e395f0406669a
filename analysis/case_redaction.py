"""A session's turns as the steps of a test case, redacted by tokens that keep what is equal.

An id, a name or arguments that came twice have one token twice. A suffix that the client put behind an id stays, and so do the
tool names that it takes for one (`task` and `agent`): decisions turn on both.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from analysis.fingerprint import canonical_name
from analysis.guard_case import Answered, CaseCall, CompactionStep, KeptCall, PromptStep, ResponseStep, Step
from analysis.provider_ids import history_id, provider_id
from analysis.timeline import TimelineResponse
from analysis.turn_state import TurnState
from ingest.records import Compaction, Result

_SUFFIXES = re.compile(r"(?P<base>.+?)(?P<suffixes>(?:__qwen_dup_\d+)*)\Z", re.DOTALL)
_ALIASES = frozenset(("search_file_content", "grep_search", "replace", "edit", "task", "agent"))


@dataclass
class _Tokens:
    """One token a value, by the order in which the values come."""

    kind: str
    given: dict[object, str] = field(default_factory=dict)

    def of(self, value: object) -> str:
        return self.given.setdefault(value, f"{self.kind}-{len(self.given) + 1}")


@dataclass
class Redaction:
    ids: _Tokens = field(default_factory=lambda: _Tokens("id"))
    names: _Tokens = field(default_factory=lambda: _Tokens("tool"))
    arguments: _Tokens = field(default_factory=lambda: _Tokens("arguments"))

    def id(self, provider: str | None) -> str | None:
        if provider is None:
            return None
        parts = _SUFFIXES.match(provider)
        assert parts is not None
        return self.ids.of(parts["base"]) + parts["suffixes"]

    def name(self, tool: str) -> str:
        return tool if tool in _ALIASES else self.names.of(canonical_name(tool))

    def args(self, fingerprint: bytes | None) -> Any:
        return None if fingerprint is None else {"token": self.arguments.of(fingerprint)}


def steps_of(state: TurnState, redaction: Redaction) -> Iterator[Step]:
    origin = state.turn.prompt.origin if state.turn.prompt is not None else "user"
    yield PromptStep("user" if origin == "mid-turn" else origin)
    providers = {id(call.of_batch.call): call.of_batch.provider_id for call in state.calls}
    for item in state.turn.items:
        if isinstance(item, TimelineResponse) and item.calls:
            yield ResponseStep(
                [
                    CaseCall(
                        redaction.id(providers[id(call)]),
                        redaction.name(call.call.tool),
                        redaction.args(call.fingerprint),
                        _answered(call.result),
                    )
                    for call in item.calls
                ]
            )
        elif isinstance(item, Compaction):
            yield CompactionStep([*_kept(item, redaction)])


def _kept(compaction: Compaction, redaction: Redaction) -> Iterator[KeptCall]:
    used: set[str] = set()
    answered = {history_id(entry.recorded_id) for entry in compaction.entries if entry.kind == "answer"}
    for entry in compaction.entries:
        recorded = history_id(entry.recorded_id)
        if entry.kind == "call":
            provider, _ = provider_id(entry.recorded_id, used)
            name = redaction.name(entry.tool or "")
            yield KeptCall(redaction.id(provider), name, redaction.args(entry.fingerprint), recorded in answered)
        if recorded is not None:
            used.add(recorded)


def _answered(result: Result | None) -> Answered | None:
    if result is None:
        return None
    if result.answer == "tool":
        return "error" if result.status == "error" else "ok"
    return result.answer
