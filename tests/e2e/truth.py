"""What a scripted run really did, told by what it left outside the client's log: side effects, requests, and how it ended."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

Done = Literal["execute", "suppress", "stop"]
End = Literal["completed", "stopped-visibly", "silent-hang", "truncated"]


class CallTruth(Struct, frozen=True):
    sent_id: str | None
    """As the model sent it."""
    mark: str | None
    done: Done
    """`execute`: the mark appeared, or the model was given an answer that a tool or its refusal makes. `suppress`: it did not
    run, and the client came back to the model, with the answer that it is a duplicate. `stop`: the client came back no more."""
    ran: bool
    """Whether the mark appeared. False too for a call without a mark, of which nobody can tell from outside."""


class TurnTruth(Struct, frozen=True):
    responses: list[list[CallTruth]]
    end: End
    sub_agent: list[list[CallTruth]] = []


class RunTruth(Struct, frozen=True):
    version: str
    guard: str
    scenario: str
    entry_point: str
    turns: list[TurnTruth]
    runs: dict[str, int]
    """How often each mark was executed in all."""

    @property
    def name(self) -> str:
        return f"{self.version}/{self.scenario}.{self.entry_point}"
