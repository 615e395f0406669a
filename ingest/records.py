"""The common records: what any client's log says, before anybody interprets it.

Every reader turns its client's bytes into these few frozen types and nothing else, so that the store, the guards and the
verdicts know no client's format. The provider's id and the id the client wrote stand apart (`Call.provider_id` is None where
the log holds only the client's), a result is paired by position and not by id alone (ids repeat: that is our subject), and the
boundary of a model response is the reader's to draw (`Response.round_key` joins a response told in several records).

Evidence travels on each record as `place` and is left out of equality: the same record read from a copy is the same record.
Times are microseconds since the epoch in UTC; None where the log holds none.

Stores keep records packed as arrays with a number for the type (`tag`): a field may be added behind the last one, with a
default, but none moved, dropped or given another meaning without a migration.

They take their members by position too: named in a call, more than 15 of them go through a dict, and making a record would cost
four times as much.

No record can hold itself, so none is tracked by the garbage collector (`gc=False`): tracked, a third of the reading time went
there.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct, field

ArgsState = Literal["whole", "absent", "redacted", "cut", "rewritten"]
"""Whether the fingerprint can be trusted: only `whole` arguments are what the client hashed. `rewritten`: a hook changed them
before they were logged."""

Digest = bytes
"""A name of its own: within `Result`, which has a field `bytes`, the type's name would mean the field."""

Answer = Literal[
    "tool",  # the tool (or the client's refusal to run it: unknown tool, invalid parameters) answered
    "duplicate",  # synthetic: the guard took the call for a replay and did not run it
    "loop-skip",  # synthetic: the daemon stopped the turn before the call could run
    "skipped",  # synthetic: the client skipped the call for another reason of its own (a permission request called off)
    "interrupted",  # synthetic: the client wrote that the result was never recorded
    "cancelled",  # the person or the client called the call off
]


class Place(Struct, frozen=True, gc=False, array_like=True):
    """Where a record stands: enough to read its full text again, and to point a person at it."""

    source: str
    offset: int
    length: int
    line: int
    """1-based. In a source without lines (concatenated objects) the line on which the object begins."""


class Problem(Struct, frozen=True, gc=False):
    """A damaged or skipped piece of a source. A healthy log yields none."""

    kind: str
    detail: str
    offset: int
    line: int


class Record(Struct, frozen=True, eq=False, gc=False, array_like=True):
    place: Place
    session_id: str
    uuid: str | None = None
    parent_uuid: str | None = None
    """The record before this one in its branch. Telemetry and side files have neither uuid nor parent: not in the chain."""
    ts: int | None = None
    version: str | None = None
    cwd: str | None = None
    forked_from: str | None = None
    """The session this record was copied from by a fork: an echo, never counted."""

    def _content(self) -> tuple[object, ...]:
        return tuple(getattr(self, name) for name in self.__struct_fields__ if name != "place")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Record) and type(self) is type(other) and self._content() == other._content()

    def __hash__(self) -> int:
        """Of all that a record without a uuid says: ten thousand of them may have one time, or none."""
        if self.uuid is not None:
            return hash((type(self), self.session_id, self.uuid))
        return hash((type(self), *(tuple(part.items()) if isinstance(part, dict) else part for part in self._content())))


class Prompt(Record, frozen=True, eq=False, gc=False, tag=1):
    """Text put to the model. It starts a turn unless `origin` is `mid-turn`."""

    origin: Literal["user", "cron", "notification", "sub-agent", "mid-turn"] = "user"
    prompt_id: str | None = None
    """The id that the log gives it, where it gives one (a daemon's); else the turn takes it from its telemetry."""


class Call(Struct, frozen=True, gc=False, array_like=True):
    """One tool call in a response."""

    recorded_id: str | None
    tool: str
    part: int
    """Its place among the response record's parts; with the record's uuid it names the call across copies."""
    fingerprint: bytes | None = None
    """32 bytes; None where the arguments are not whole."""
    provider_id: str | None = None
    """The id the model sent, where the log itself tells it apart from the recorded one; else recovered in analysis."""
    args_json: str = "{}"
    """Canonical JSON, cut at 1 KB; `args_bytes` tells the full length."""
    args_bytes: int = 2
    args_state: ArgsState = "whole"


class Response(Record, frozen=True, eq=False, gc=False, tag=2):
    """One model response, or a part of one: parts that share a `round_key` are one response."""

    model: str | None = None
    provider: str | None = None
    response_id: str | None = None
    round_key: str | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    tokens_cached: int | None = None
    stop_reason: str | None = None
    has_text: bool = False
    has_thought: bool = False
    calls: tuple[Call, ...] = ()


class Result(Record, frozen=True, eq=False, gc=False, tag=3):
    """The answer to a call."""

    recorded_id: str | None = None
    tool: str | None = None
    part: int = 0
    answer: Answer = "tool"
    quoted_id: str | None = None
    """The provider's id as a synthetic answer quotes it."""
    guard_hint: str | None = None
    """The guard that writes this text: `id-breaker` or `fingerprint`."""
    status: str | None = None
    """`success`, `error` or `cancelled`; None where the log does not say."""
    error_class: str | None = None
    execution_status: str | None = None
    digest: Digest | None = None
    stable_digest: Digest | None = None
    """Equal for two answers to calls of one tool that differ only in times, durations, process ids and the like. None where
    the reader cannot tell. Never what a guard is replayed on."""
    error_line: str | None = None
    """First line of the error, cut at 200 characters; None for an answer that is no error. Hostile: show it only escaped."""
    bytes: int = 0
    duration_ms: float | None = None


class HistoryEntry(Struct, frozen=True, gc=False, array_like=True):
    """A call or an answer that a compaction kept in the model's history: a copy, so no call of its own."""

    kind: Literal["call", "answer"]
    recorded_id: str | None
    tool: str | None = None
    fingerprint: bytes | None = None


class Compaction(Record, frozen=True, eq=False, gc=False, tag=4):
    """The model's history was replaced by `entries`; ids no longer in it are free again."""

    entries: tuple[HistoryEntry, ...] = ()


class Event(Record, frozen=True, eq=False, gc=False, tag=5):
    """Anything else that a source says: bookkeeping records of the log, telemetry, spans, side files, ends told on the wire.

    channel: `log` (a record in the session's chain), `telemetry` (an event), `span`, `side` (a file beside the log), `wire`
    (what the agent told the program that it works for).
    name: the client's own word, without its prefix (`api_error`, `turn_result`, `loop_detected`, `agent-meta`, ...); on the
    wire `prompt_response`, with the stop reason as status or the error's code as error_class.
    """

    channel: Literal["log", "telemetry", "span", "side", "wire"] = "log"
    name: str = ""
    prompt_id: str | None = None
    model: str | None = None
    response_id: str | None = None
    call_id: str | None = None
    tool: str | None = None
    status: str | None = None
    error_class: str | None = None
    message: str | None = None
    """Error text or the like, cut at 500 characters. Hostile: show it only escaped."""
    duration_ms: float | None = None
    loop_type: str | None = None
    attributes: dict[str, str] = field(default_factory=dict)
    """The few further attributes that a later finding needs, as text."""


AnyRecord = Prompt | Response | Result | Compaction | Event


CardEventKind = Literal[
    "round",  # a further model response begins
    "delta",  # a piece of a call as the provider streams it, before anybody is told of the call
    "start",  # a card appears
    "update",  # its state or its result
    "discard",  # an update that takes back a call that was never run
    "ask",  # a person is asked for approval
    "approval",  # what the person answered
    "reset",  # the interface starts from nothing again: the session is loaded and told from its beginning
]


class CardEvent(Record, frozen=True, kw_only=True, eq=False, gc=False, tag=6):
    """What a user interface was told of a tool call. The same call stands in the session's log: this one is never counted."""

    surface: Literal["acp", "sse", "desktop"]
    kind: CardEventKind
    card_id: str | None = None
    """The call's id as it was told; None where none was, "" where it was told empty."""
    tool: str | None = None
    round_no: int | None = None
    """The model response of the session that it belongs to, from 1; None where the source does not tell."""
    stream: str | None = None
    """Of a delta: which stream, where a response was streamed in several (a retry)."""
    stream_index: int | None = None
    """Of a delta: which call of the stream."""
    args_json: str | None = None
    """Canonical JSON cut at 1 KB, or the text as it was told where that is no JSON; None where nothing was told yet."""
    fingerprint: bytes | None = None
    status: str | None = None
    """The source's own word for the card's state, or for the answer of a person: `approved`, `denied`, else its own word."""
    result_lines: int | None = None
    prompt_id: str | None = None


SourceRecord = AnyRecord | CardEvent
"""What a source can say. Analysis of a conversation sees `AnyRecord` alone."""


class SessionFacts(Struct, frozen=True, kw_only=True):
    """All that the sources say of one session, as analysis gets it."""

    session_id: str
    kind: Literal["main", "sub-agent"]
    parent_session_id: str | None
    client: str
    records: tuple[AnyRecord, ...]
    """Records of the session's log (those with a uuid), one per uuid, in the order of the file."""
    events: tuple[Event, ...]
    """Telemetry, spans, side files and what the wire tells, in order of time."""
    cards: tuple[CardEvent, ...] = ()
    """What user interfaces were told of the calls, source after source, each in its own order."""
    differing_copies: tuple[Place, ...] = ()
    """Records that say something else than the one of the same uuid that counts."""
    divergent_copies: tuple[Place, ...] = ()
    """Where a copy of the log goes another way than the longest, whose way counts."""
