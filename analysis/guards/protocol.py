"""The lines between loopscope and an outside guard, version 1. docs/guard-protocol.md says it for people."""

from __future__ import annotations

from typing import Literal

import msgspec
from msgspec import Struct

from analysis.guards.base import GuardFailed

PROTOCOL = 1

Arguments = Literal["canonical", "as-logged", "none"]


class Hello(Struct, tag="hello", tag_field="type"):
    protocol: int
    options: dict[str, str | float]


class Session(Struct, tag="session", tag_field="type"):
    session: str
    client: str
    client_version: str | None


class PastCall(Struct):
    id: str | None
    name: str | None
    arguments: msgspec.Raw | None


class Prompt(Struct, tag="prompt", tag_field="type"):
    session: str
    turn: int
    origin: str
    entry_point: str
    answered: dict[str, int]
    """Ids that count as answered synthetically from the start, and how often."""
    history_replaced: bool
    """The model's history was compacted: `history` is all of it, else what came to it since the last prompt."""
    history: list[PastCall]


class Call(Struct):
    id: str | None
    name: str
    arguments: msgspec.Raw | None
    is_handled: bool
    handled: list[PastCall]
    answered: int


class Batch(Struct, tag="batch", tag_field="type"):
    session: str
    batch: int
    turn: int
    response: int
    origin: str
    entry_point: str
    calls: list[Call]


class Note(Struct, tag="note", tag_field="type"):
    text: str


class End(Struct, tag="end", tag_field="type"):
    session: str


class Greeting(Struct, tag="hello", tag_field="type"):
    protocol: int
    name: str = ""
    about: str = ""
    arguments: Arguments = "canonical"


class Decisions(Struct, tag="decisions", tag_field="type"):
    session: str
    batch: int
    decisions: list[str]


_encode = msgspec.json.Encoder().encode
_greeting = msgspec.json.Decoder(Greeting).decode
_decisions = msgspec.json.Decoder(Decisions).decode
_SHOWN = 100


def line(message: Hello | Session | Prompt | Batch | Note | End) -> bytes:
    return _encode(message)


def read_greeting(answer: bytes) -> Greeting:
    """Raises GuardFailed."""
    try:
        greeting = _greeting(answer)
    except (msgspec.DecodeError, UnicodeDecodeError) as e:
        raise GuardFailed(f"its answer to hello is none: {e}: {_shown(answer)}") from e
    if greeting.protocol != PROTOCOL:
        raise GuardFailed(f"it speaks protocol {greeting.protocol}, and this program {PROTOCOL}")
    return greeting


def read_decisions(answer: bytes, session: str, batch: int) -> list[str]:
    """Raises GuardFailed."""
    try:
        decisions = _decisions(answer)
    except (msgspec.DecodeError, UnicodeDecodeError) as e:
        raise GuardFailed(f"its answer is no decisions: {e}: {_shown(answer)}") from e
    if (decisions.session, decisions.batch) != (session, batch):
        told = f"batch {decisions.batch} of session {decisions.session[:_SHOWN]}"
        raise GuardFailed(f"it answered for {told} when asked for batch {batch} of session {session}")
    return decisions.decisions


def _shown(answer: bytes) -> str:
    text = answer[:_SHOWN].decode("utf-8", "replace")
    return repr(text + "..." if len(answer) > _SHOWN else text)
