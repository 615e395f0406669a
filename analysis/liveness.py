"""How long a tool, or the model, may be silent before silence means something.

A test run of a quarter of an hour is normal, a network call of an hour is not (untether#105, #154), so there is no one limit:
seconds by kind of tool, unless the corpus itself has enough completed calls of a tool to say better.
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


_MARGIN = 3
"""Times the slowest of a hundred calls, before silence means something; at least a minute."""


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
            learnt[name] = max(learnt.get(name, 60.0), float(_MARGIN * seconds))
        return cls(learnt)

    def of_tool(self, tool: str) -> float:
        name = canonical_name(tool)
        return self.learnt.get(name) or _BY_TOOL.get(name, _OTHER)


DEFAULT_LIVENESS = Liveness()
