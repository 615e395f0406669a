"""How long a tool, or the model, may be silent before silence means something.

A test run of a quarter of an hour is normal, a network call of an hour is not (untether#105, #154), so there is no one limit:
seconds by kind of tool, unless the corpus itself has enough completed calls of a tool to say better.

What the corpus says is known once all of it was read. A session can be judged before that if its findings rest on no tool's
limit: `UNLEARNT` stands for the limits until then, and whoever asks it for one is told so.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from analysis.fingerprint import canonical_name

_SHELL = 30 * 60.0
_AGENT = 60 * 60.0
_OTHER = 10 * 60.0
_MODEL = 5 * 60.0
_BY_TOOL = {"run_shell_command": _SHELL, "agent": _AGENT, "bash": _SHELL, "shell": _SHELL}

SHORTEST_STALL = 60.0
"""Seconds. Silence below it means nothing, whatever the corpus says: no limit needs to be known then."""
_MARGIN = 3
"""Times the slowest of a hundred calls, before silence means something."""


class Liveness(Struct, frozen=True):
    """Seconds without progress after which a wait is a stall."""

    learnt: Mapping[str, float] = {}
    """Per canonical tool name, from the corpus."""
    model: float = _MODEL

    @classmethod
    def from_corpus(cls, tool_seconds: Mapping[str, int]) -> Liveness:
        """tool_seconds: per tool the seconds within which nearly all of its calls ended."""
        learnt: dict[str, float] = {}
        for tool, seconds in tool_seconds.items():
            name = canonical_name(tool)
            learnt[name] = max(learnt.get(name, SHORTEST_STALL), float(_MARGIN * seconds))
        return cls(learnt)

    def of_tool(self, tool: str) -> float:
        name = canonical_name(tool)
        return self.learnt.get(name) or _BY_TOOL.get(name, _OTHER)


class NotYetLearnt(Exception):
    """A finding rests on how long a tool may take, which only the whole corpus can say."""


class _Unlearnt(Liveness, frozen=True):
    """The model's limit is the same in every corpus and so is known before it: only a tool's is not."""

    def of_tool(self, tool: str) -> float:
        raise NotYetLearnt(tool)


DEFAULT_LIVENESS = Liveness()
UNLEARNT = _Unlearnt()
