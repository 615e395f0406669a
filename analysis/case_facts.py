"""A test case as the facts of a session, to be replayed like any other.

The recorded ids follow from the provider's by the client's own rule: an id that is in use gets `__qwen_dup_N`. So a case stays
right when steps are taken out of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from analysis.fingerprint import fingerprint
from analysis.guard_case import Answered, CaseCall, CompactionStep, GuardCase, KeptCall, PromptStep, ResponseStep
from ingest.records import (
    Answer,
    AnyRecord,
    Call,
    Compaction,
    Event,
    HistoryEntry,
    Place,
    Prompt,
    Response,
    Result,
    SessionFacts,
)

CLIENT = "qwen-code"
_SECOND = 1_000_000
_KEPT_BYTES = 1024
"""Of the arguments in a record, as a reader keeps them."""

_BOOKKEEPING = {
    "headless": ("attribution_snapshot",),
    "tui": ("attribution_snapshot", "file_history_snapshot"),
    "acp": ("file_history_snapshot",),
    "serve": ("file_history_snapshot", "turn_result"),
}
"""What tells the entry point of a turn (client_facts.py)."""

_ANSWERS: dict[Answered, tuple[Answer, str]] = {
    "ok": ("tool", "success"),
    "error": ("tool", "error"),
    "cancelled": ("cancelled", "cancelled"),
    "duplicate": ("duplicate", "error"),
    "loop-skip": ("loop-skip", "error"),
    "skipped": ("skipped", "error"),
    "interrupted": ("interrupted", "error"),
}


class CaseSession:
    def __init__(self, case: GuardCase, session_id: str = "case") -> None:
        self._case = case
        self.id = session_id
        self._arguments: dict[tuple[int, bytes], Any] = {}
        """What the log of this session would hold, by place and fingerprint."""
        self._used: set[str] = set()
        self._count = 0

    def facts(self) -> SessionFacts:
        return SessionFacts(
            session_id=self.id,
            kind="sub-agent" if self._case.entry_point == "sub-agent" else "main",
            parent_session_id=None,
            client=CLIENT,
            records=tuple(self._records()),
            events=(),
        )

    def source(self, place: Place, fingerprint: bytes, /) -> object:
        """As `analysis.guards.arguments.Source`: nothing is too long for a case to hold it."""
        return self._arguments[place.offset, fingerprint]

    def _records(self) -> Iterator[AnyRecord]:
        for step in self._case.steps:
            match step:
                case PromptStep():
                    yield Prompt(**self._common(), origin=step.origin)
                    for name in _BOOKKEEPING.get(self._case.entry_point, ()):
                        yield Event(**self._common(), channel="log", name=name)
                case ResponseStep():
                    yield from self._response(step)
                case CompactionStep():
                    self._used = set()
                    yield Compaction(**self._common(), entries=tuple(self._kept(step.kept)))

    def _response(self, step: ResponseStep) -> Iterator[AnyRecord]:
        recorded = [self._recorded(call.id) for call in step.calls]
        self._used.update(one for one in recorded if one is not None)
        common = self._common()
        calls = [
            self._call(call, recorded_id, part, common["place"].offset)
            for part, (call, recorded_id) in enumerate(zip(step.calls, recorded, strict=True))
        ]
        yield Response(**common, model="case", calls=tuple(calls))
        for call, recorded_id in zip(step.calls, recorded, strict=True):
            if call.answered is not None:
                answer, status = _ANSWERS[call.answered]
                quoted = call.id if answer == "duplicate" else None
                yield Result(
                    **self._common(), recorded_id=recorded_id, tool=call.name, answer=answer, status=status, quoted_id=quoted
                )

    def _call(self, call: CaseCall, recorded_id: str | None, part: int, offset: int) -> Call:
        if call.arguments is None:
            return Call(
                recorded_id, call.name, part, provider_id=call.id, args_json="null", args_bytes=4, args_state="redacted"
            )
        digest, canonical = fingerprint(call.name, call.arguments)
        self._arguments[offset, digest] = call.arguments
        kept = canonical[:_KEPT_BYTES].decode("utf-8", "ignore")
        return Call(recorded_id, call.name, part, digest, call.id, kept, len(canonical))

    def _kept(self, kept: list[KeptCall]) -> Iterator[HistoryEntry]:
        for call in kept:
            recorded_id = self._recorded(call.id)
            if recorded_id is not None:
                self._used.add(recorded_id)
            digest = None if call.arguments is None else fingerprint(call.name, call.arguments)[0]
            yield HistoryEntry("call", recorded_id, call.name, digest)
            if call.is_answered:
                yield HistoryEntry("answer", recorded_id)

    def _recorded(self, provider: str | None) -> str | None:
        if provider is None or provider not in self._used:
            return provider
        number = 2
        while f"{provider}__qwen_dup_{number}" in self._used:
            number += 1
        return f"{provider}__qwen_dup_{number}"

    def _common(self) -> dict[str, Any]:
        self._count += 1
        return {
            "place": Place(self.id, self._count, 1, self._count),
            "session_id": self.id,
            "uuid": f"{self.id}-{self._count}",
            "parent_uuid": f"{self.id}-{self._count - 1}" if self._count > 1 else None,
            "ts": self._count * _SECOND,
            "version": self._case.client_version,
        }
