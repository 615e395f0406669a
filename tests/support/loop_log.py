"""A session put together call by call, each in a response of its own or side by side, under ids that never repeat unless said.

A response takes a second, its answer another; each response sent 100 tokens and received 10.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from msgspec.structs import replace

from ingest.records import Call, Compaction, Event, HistoryEntry, Place, SessionFacts
from tests.support.session_log import START, SessionLog, call

SHELL = "run_shell_command"
TOKENS = 110


@dataclass(frozen=True)
class Did:
    """One call and how it was answered."""

    args: Mapping[str, Any]
    result: str | None = "ok"
    """None: never answered."""
    tool: str = SHELL
    error_class: str | None = None
    """None: it succeeded."""
    error_line: str | None = None
    stable: str | None = None
    """The answer without its volatile parts; None: it has none."""
    call_id: str | None = None


class LoopLog(SessionLog):
    def __init__(self, version: str = "0.24.4") -> None:
        super().__init__(version=version)
        self._calls = 0
        self.events: list[Event] = []

    def did(self, *calls: Did) -> LoopLog:
        """One response, then its answers."""
        named = [(did.call_id or f"call_{self._calls + number}", did) for number, did in enumerate(calls, 1)]
        self._calls += len(calls)
        self.response(*(_made(name, did, part) for part, (name, did) in enumerate(named)))
        for name, did in named:
            if did.result is not None:
                self._answered(name, did)
        return self

    def _answered(self, name: str, did: Did) -> None:
        self.answer(name, tool=did.tool, status="error" if did.error_class is not None else "success")
        self.records[-1] = replace(
            self.records[-1],
            digest=_digest(did.result or ""),
            stable_digest=_digest(did.stable if did.stable is not None else did.result or ""),
            error_class=did.error_class,
            error_line=did.error_line,
        )

    def replied(self, *, text: bool = False) -> LoopLog:
        """A response without a call."""
        self.response(text=text)
        return self

    def response(self, *calls: Any, **told: Any) -> LoopLog:
        super().response(*calls, **told)
        self.records[-1] = replace(self.records[-1], tokens_in=100, tokens_out=10)
        return self

    def compacted(self, *entries: HistoryEntry) -> LoopLog:
        self.records.append(Compaction(**self._common(), entries=entries))
        return self

    def asked(self) -> LoopLog:
        self.prompt()
        return self

    def told(self, loop_type: str) -> LoopLog:
        """The client's telemetry names a loop, now."""
        at = Place("telemetry.log", 0, 1, len(self.events) + 1)
        ts = START + (len(self.records) + 1) * 1_000_000
        self.events.append(
            Event(place=at, session_id=self.session_id, ts=ts, channel="telemetry", name="loop_detected", loop_type=loop_type)
        )
        return self

    def done(self) -> LoopLog:
        return self.replied(text=True)

    def facts(self) -> SessionFacts:
        return replace(super().facts(), events=tuple(self.events))


def _made(name: str, did: Did, part: int) -> Call:
    """As a reader makes it: no more than the first KB of the arguments is kept."""
    made = call(name, dict(did.args), tool=did.tool, part=part)
    return replace(made, args_json=made.args_json[:1024])


def _digest(text: str) -> bytes:
    return zlib.crc32(text.encode()).to_bytes(4, "big") + len(text).to_bytes(4, "big")
