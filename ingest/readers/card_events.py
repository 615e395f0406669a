"""A desktop client's event log as NDJSON: what it told its interface of each tool call (docs/card-events.md has the format).

`AiAgentRound`, `AiToolCallStarted`, `AiToolCallCompleted`, `AiApprovalResult`, and the pieces of calls as the provider
streamed them (`AiToolCallDelta`, or bare objects with an `index`), in the same file or in one of their own. An event is named
by a member `type`, `event` or `kind`, its fields beside it or in a member `data` or `payload`; or its name is the key of them.

A session that no line names is called after the file. A piece belongs to the round that the file is in; in a file without
rounds each stream is a round, in the order in which they begin.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar

import msgspec

from ingest.readers.base import FingerprintFunction, Row, Sample
from ingest.readers.lines import LineReader
from ingest.readers.qwen_events import text
from ingest.readers.told_values import args_of, lines_of, mapping, moment
from ingest.records import CardEvent, Place

_DELTA = "AiToolCallDelta"
_NAMED_BY = ("type", "event", "kind")
_FIELDS_IN = ("data", "payload")
_TIMES = ("ts", "timestamp", "time", "t")
_SESSIONS = ("session_id", "sessionId", "session")
_SUFFIXES = (".ndjson", ".jsonl", ".json", ".log", ".deltas", ".events")
_FAILED = frozenset({"failed", "error", "failure"})
_ANSWERS = {"true": "approved", "allow": "approved", "allowed": "approved", "approve": "approved"} | {
    "false": "denied", "deny": "denied", "reject": "denied", "rejected": "denied"
}  # fmt: skip


class CardEventsReader(LineReader[dict[str, Any]]):
    format = "card-events"
    client = "desktop"
    version = 1
    decoder: ClassVar[msgspec.json.Decoder[Any]] = msgspec.json.Decoder(dict[str, Any])

    def __init__(self, source: str, fingerprint: FingerprintFunction) -> None:
        super().__init__(source, fingerprint)
        self._session_id = _stem(self.name)
        self._round = 0
        self._streams: dict[str, int] = {}

    @classmethod
    def claims(cls, sample: Sample) -> bool:
        """Bare pieces are what any provider streams; they are ours where nothing else stands in the file."""
        bare = [_is_bare_delta(value) for value in sample.values]
        named = any(_event(value)[0] in _READ for value, is_bare in zip(sample.values, bare, strict=True) if not is_bare)
        return named or (bool(bare) and all(bare))

    def from_object(self, value: dict[str, Any], exact: bool) -> dict[str, Any]:
        return value

    def is_record(self, value: dict[str, Any]) -> bool:
        return _event(value)[0] in _READ

    def rows(self, wire: dict[str, Any], place: Place) -> Sequence[Row] | None:
        name, told = _event(wire)
        read = _READ.get(name)
        if read is None:
            return None if not name else ()
        self._session_id = text(*(frame.get(key) for frame in (told, wire) for key in _SESSIONS)) or self._session_id
        times = (moment(frame.get(key)) for frame in (wire, told) for key in _TIMES)
        common = {
            "place": place,
            "session_id": self._session_id,
            "ts": next((ts for ts in times if ts is not None), None),
            "surface": "desktop",
        }
        return tuple(read(self, told, common))

    def _read_round(self, told: dict[str, Any], common: dict[str, Any]) -> Iterator[CardEvent]:
        self._round = _count(told, "round", "index", "number", "n") or self._round + 1
        yield CardEvent(**common, kind="round", round_no=self._round)

    def _read_delta(self, told: dict[str, Any], common: dict[str, Any]) -> Iterator[CardEvent]:
        stream = text(told.get("stream")) or ""
        args = told.get("args", told.get("arguments"))
        yield CardEvent(
            **common,
            kind="delta",
            card_id=text(told.get("id")),
            tool=text(told.get("name")),
            round_no=_count(told, "round") or self._round or self._streams.setdefault(stream, len(self._streams) + 1),
            stream=stream,
            stream_index=_count(told, "index") or 0,
            args_json=None if args is None else args_of("", args, self.fingerprint).json,
        )

    def _read_start(self, told: dict[str, Any], common: dict[str, Any]) -> Iterator[CardEvent]:
        tool = text(told.get("name"), told.get("tool"))
        value = told.get("args", told.get("arguments"))
        args = None if value is None else args_of(tool or "", value, self.fingerprint)
        yield CardEvent(
            **common,
            kind="start",
            card_id=text(told.get("id")),
            tool=tool,
            round_no=_count(told, "round") or self._round or None,
            args_json=args.json if args else None,
            fingerprint=args.fingerprint if args else None,
            status="running",
        )

    def _read_completed(self, told: dict[str, Any], common: dict[str, Any]) -> Iterator[CardEvent]:
        result = told.get("result", told.get("error"))
        has_failed = told.get("success") is False or bool(told.get("error")) or told.get("is_error") is True
        is_failure = has_failed or text(told.get("status")) in _FAILED
        yield CardEvent(
            **common,
            kind="update",
            card_id=text(told.get("id")),
            tool=text(told.get("name"), told.get("tool")),
            status="failed" if is_failure else "completed",
            result_lines=lines_of(result),
        )

    def _read_approval(self, told: dict[str, Any], common: dict[str, Any]) -> Iterator[CardEvent]:
        answer = text(*(told.get(key) for key in ("approved", "decision", "result", "status"))) or "unanswered"
        yield CardEvent(**common, kind="approval", card_id=text(told.get("id")), status=_ANSWERS.get(answer.lower(), answer))


_Read = Callable[[CardEventsReader, dict[str, Any], dict[str, Any]], Iterator[CardEvent]]
_READ: dict[str, _Read] = {
    "AiAgentRound": CardEventsReader._read_round,
    "AiToolCallStarted": CardEventsReader._read_start,
    "AiToolCallCompleted": CardEventsReader._read_completed,
    "AiApprovalResult": CardEventsReader._read_approval,
    _DELTA: CardEventsReader._read_delta,
}


def _event(value: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Its name, "" where it has none, and its fields. Other names than ours are events too: a client tells more than calls."""
    if _is_bare_delta(value):
        return _DELTA, value
    for name in value:
        if name in _READ:
            return name, mapping(value[name])
    for key in _NAMED_BY:
        if isinstance(named := value.get(key), str):
            return named, next((value[field] for field in _FIELDS_IN if isinstance(value.get(field), dict)), value)
    return next((name for name in value if name.startswith("Ai")), ""), {}


def _is_bare_delta(value: dict[str, Any]) -> bool:
    return _count(value, "index") is not None and value.keys() <= {
        "index", "id", "name", "args", "arguments", "type", "stream", "round", *_TIMES, *_SESSIONS
    }  # fmt: skip


def _count(told: dict[str, Any], *names: str) -> int | None:
    values = (told.get(name) for name in names)
    return next((value for value in values if type(value) is int and 0 <= value < 1 << 31), None)


def _stem(name: str) -> str:
    while (shorter := next((name.removesuffix(suffix) for suffix in _SUFFIXES if name.endswith(suffix)), "")) != "":
        name = shorter
    return name
