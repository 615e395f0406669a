"""A guard that is a program of its own: the function of a working copy, in whatever language, over recorded history.

It has the interface of every guard, and the replay keeps its history for it: each batch says of each call what was handled
under its id and how often that was answered, so that a program without any memory can decide. What a program may know besides
(where a session begins, each prompt, what came to the history) goes ahead of the batch.

One process plays many sessions, one after the other. Whatever it does wrong costs it the session it was at: it is killed, the
session has no decisions of it, the next session begins with a new process. One that fails again and again is given up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from analysis.client_facts import turn_version
from analysis.guards import protocol
from analysis.guards.arguments import ArgumentsUnknown, Source, canonical_arguments, logged_arguments, no_source
from analysis.guards.base import Answered, Decision, GuardFailed
from analysis.guards.checked import checked
from analysis.guards.process import GIVEN_UP_AFTER, START_FACTOR, LineProcess, ProcessGuard
from analysis.guards.what_if import tool_of
from analysis.history import Batch, BatchCall, Handled
from analysis.model_history import ModelHistory, PastCall


@dataclass
class _Told:
    """What the process has been told of the session it is at."""

    session_id: str
    batches: int = 0
    turn_no: int = 0
    history: ModelHistory | None = None
    calls: int = 0
    """Of that history."""


class OutsideGuard(ProcessGuard):
    def __init__(self, name: str, command: Sequence[str], source: Source, reply_seconds: float) -> None:
        self.name = name
        self.about = "a program of its own"
        self._command = command
        self._source = source
        self._reply_seconds = reply_seconds
        self._process: LineProcess | None = None
        self._wants: protocol.Arguments = "canonical"
        self._told: _Told | None = None
        self._failures = 0

    def start(self) -> None:
        self._process = LineProcess(self._command)
        options: dict[str, str | float] = {"name": self.name, "reply_seconds": self._reply_seconds}
        hello = protocol.line(protocol.Hello(protocol.PROTOCOL, options))
        try:
            greeting = protocol.read_greeting(self._process.ask(hello, START_FACTOR * self._reply_seconds))
        except GuardFailed:
            self._stop()
            raise
        self._wants = greeting.arguments
        self.about = greeting.about or greeting.name or self.about

    def note(self, text: str) -> None:
        """A message that decides nothing, of a kind that a guard need not know."""
        if self._process is not None:
            self._process.send(protocol.line(protocol.Note(text)))

    def close(self) -> bool:
        if self._process is None:
            return True
        self._end_session()
        process, self._process = self._process, None
        return process.close(kindly=True)

    def decide(self, batch: Batch, handled: Handled, answered: Answered) -> Sequence[Decision]:
        if self._failures >= GIVEN_UP_AFTER:
            raise GuardFailed(f"it was not asked: it failed in {self._failures} sessions in a row")
        try:
            decisions = self._ask(batch, handled, answered)
        except GuardFailed:
            self._failures += 1
            self._stop()
            raise
        return decisions

    def _ask(self, batch: Batch, handled: Handled, answered: Answered) -> list[Decision]:
        if self._process is None:
            self.start()
        assert self._process is not None
        told = self._begin(batch, answered)
        asked = [call for call in batch.calls if not call.same_response]
        unknown = [self._is_unknown(call, handled) for call in asked]
        told.batches += 1
        message = protocol.Batch(
            session=told.session_id,
            batch=told.batches,
            turn=batch.turn.no,
            response=batch.response.no,
            origin=_origin(batch),
            entry_point=batch.entry_point,
            calls=[self._call(call, handled, answered) for call in asked],
        )
        answer = self._process.ask(protocol.line(message), self._reply_seconds)
        decisions = checked(protocol.read_decisions(answer, told.session_id, told.batches), len(asked))
        return _whole_batch(batch, asked, decisions, unknown, answered)

    def _begin(self, batch: Batch, answered: Answered) -> _Told:
        """Tells of the session and the prompt where they are new."""
        assert self._process is not None
        told = self._told
        if told is None or told.session_id != batch.session.session_id:
            self._end_session()
            told = self._told = _Told(batch.session.session_id)
            version = turn_version(batch.turn)
            self._process.send(protocol.line(protocol.Session(told.session_id, batch.session.client, version)))
        if told.turn_no != batch.turn.no:
            told.turn_no = batch.turn.no
            history = batch.session.history
            replaced = told.history is not None and told.history is not history
            past = history.past[0 if replaced else told.calls :]
            told.history, told.calls = history, len(history.past)
            self._process.send(
                protocol.line(
                    protocol.Prompt(
                        session=told.session_id,
                        turn=batch.turn.no,
                        origin=_origin(batch),
                        entry_point=batch.entry_point,
                        answered=answered.surely,
                        history_replaced=replaced,
                        history=[self._past(provider, call, self._history_source) for provider, call in past],
                    )
                )
            )
        return told

    def _end_session(self) -> None:
        if self._told is not None and self._process is not None:
            self._failures = 0
            self._process.send(protocol.line(protocol.End(self._told.session_id)))
        self._told = None

    def _stop(self) -> None:
        self._told = None
        if self._process is not None:
            self._process.close(kindly=False)
            self._process = None

    def _call(self, call: BatchCall, handled: Handled, answered: Answered) -> protocol.Call:
        provider = call.provider_id
        earlier = handled.first_of_each(provider) if provider is not None else []
        return protocol.Call(
            id=provider,
            name=call.call.call.tool,
            arguments=self._arguments(call.call, self._source),
            is_handled=provider is not None and handled.has(provider),
            handled=[self._past(provider, other, self._source) for other in earlier],
            answered=answered.surely.get(provider, 0) if provider is not None else 0,
        )

    @property
    def _history_source(self) -> Source:
        """A whole history is told on the chance that it matters: no log is opened for that, unless it has to be anyway."""
        return self._source if self._wants == "as-logged" else no_source

    def _past(self, provider: str | None, call: PastCall, source: Source) -> protocol.PastCall:
        return protocol.PastCall(provider, tool_of(call), self._arguments(call, source))

    def _arguments(self, call: PastCall, source: Source) -> msgspec.Raw | None:
        try:
            return msgspec.Raw(self._text(call, source))
        except ArgumentsUnknown:
            return None

    def _text(self, call: PastCall, source: Source) -> bytes:
        if self._wants == "none":
            return b"null"
        return (logged_arguments if self._wants == "as-logged" else canonical_arguments)(call, source)

    def _is_unknown(self, call: BatchCall, handled: Handled) -> bool:
        """Whether its decision could turn on arguments that nobody has: those of the call or of one handled under its id."""
        if self._wants == "none" or call.provider_id is None or not handled.has(call.provider_id):
            return False
        for one in (call.call, *handled.first_of_each(call.provider_id)):
            try:
                self._text(one, self._source)
            except ArgumentsUnknown:
                return True
        return False


def _origin(batch: Batch) -> str:
    return batch.turn.prompt.origin if batch.turn.prompt is not None else "unknown"


def _whole_batch(
    batch: Batch, asked: Sequence[BatchCall], decisions: Sequence[Decision], unknown: Sequence[bool], answered: Answered
) -> list[Decision]:
    """With the calls that no guard gets to see, and without what it cannot have known."""
    for call, decision, is_unknown in zip(asked, decisions, unknown, strict=True):
        may_trip = call.provider_id in answered.maybe and (is_unknown or decision != "execute")
        if may_trip or (is_unknown and decision == "trip"):
            return ["unknown"] * len(batch.calls)
    has_tripped = "trip" in decisions
    own: dict[int, Decision] = {
        id(call): "unknown" if is_unknown and not has_tripped else decision
        for call, decision, is_unknown in zip(asked, decisions, unknown, strict=True)
    }
    return [own.get(id(call), "drop") for call in batch.calls]
