"""A recorded event stream of the HTTP daemon (`qwen serve`, 0.24.4): Server-Sent Events, each with one JSON object as data.

The objects hold the same updates as the protocol over stdio, and how each prompt ended. A reader that comes back with the last
id it saw is sent what it missed, maybe twice: an event is known by its id and the server's time, because a restarted daemon
counts its ids from the beginning. Lines end as the format says (LF or CRLF), an event at a blank line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ingest.readers.acp_updates import SessionUpdates
from ingest.readers.acp_wire import prompt_response
from ingest.readers.base import FingerprintFunction, Reader, Row, Sample
from ingest.readers.lenient_json import loads
from ingest.readers.qwen_events import text
from ingest.readers.told_values import mapping, moment
from ingest.records import Place, Problem

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_BEGINS = re.compile(rb"(?:\xef\xbb\xbf)?\s*(?:id|event|data|retry)?:")
_FIELD = re.compile(rb"(?:id|event|data|retry)?(?::|\Z)")
_TURN_ENDS = frozenset({"turn_complete", "turn_error"})


class SseEventsReader(Reader):
    format = "qwen-sse"
    client = "qwen-code"
    version = 1

    def __init__(self, source: str, fingerprint: FingerprintFunction) -> None:
        super().__init__(source, fingerprint)
        self._pieces: list[bytes] = []
        self._offset = 0
        self._line = 1
        self._begun: tuple[int, int] | None = None
        """Offset and line at which the event now read began."""
        self._data: list[bytes] = []
        self._sessions: dict[str, SessionUpdates] = {}

    @classmethod
    def claims(cls, sample: Sample) -> bool:
        is_stream = _BEGINS.match(sample.head) is not None
        return is_stream and any("v" in value and "type" in value and "data" in value for value in sample.values)

    def feed(self, data: bytes) -> Iterator[Row]:
        end = data.rfind(b"\n") + 1
        if not end:
            self._pieces.append(data)
            return
        lines = b"".join((*self._pieces, data[:end]))
        self._pieces = [data[end:]]
        start = 0
        while start < len(lines):
            stop = lines.index(b"\n", start)
            yield from self._read_line(lines[start:stop].removesuffix(b"\r"))
            self._offset += stop + 1 - start
            self._line += 1
            start = stop + 1

    def finish(self) -> Iterator[Row]:
        """A stream that was cut between an event and its blank line still holds the event."""
        rest = b"".join(self._pieces)
        self._pieces = []
        yield from self._read_line(rest.removesuffix(b"\r"))
        self._offset += len(rest)
        for row in self._end_event():
            is_torn = isinstance(row, Problem) and row.kind == "damaged"
            yield Problem("torn-tail", row.detail, row.offset, row.line) if is_torn and isinstance(row, Problem) else row

    def _read_line(self, line: bytes) -> Iterator[Row]:
        if not self._offset:
            line = line.removeprefix(_BYTE_ORDER_MARK)
        if not line:
            yield from self._end_event()
            return
        if self._begun is None:
            self._begun = (self._offset, self._line)
        if line.startswith(b"data:"):
            self._data.append(line[5:].removeprefix(b" "))
        elif not _FIELD.match(line):
            yield Problem("damaged", f"{len(line)} bytes: no field of an event stream", self._offset, self._line)

    def _end_event(self) -> Iterator[Row]:
        (begun, self._begun), (data, self._data) = (self._begun, None), (self._data, [])
        if begun is None or not data:
            return
        offset, line = begun
        try:
            value = loads(b"\n".join(data))
        except ValueError as error:
            yield Problem("damaged", f"{self._offset - offset} bytes: {error}", offset, line)
            return
        if not isinstance(value, dict) or "type" not in value:
            yield Problem("foreign-record", f"{self._offset - offset} bytes: JSON, but no {self.format} record", offset, line)
            return
        yield from self._told(value, Place(self.source, offset, self._offset - offset, line))

    def _told(self, value: dict[str, Any], place: Place) -> Iterator[Row]:
        told = mapping(value.get("data"))
        session = self._session(text(told.get("sessionId")) or "")
        server_time = mapping(value.get("_meta")).get("serverTimestamp")
        ts, prompt_id = moment(server_time), text(value.get("promptId"))
        if value["type"] == "session_update":
            number = text(value.get("id"))
            uuid = f"{number}@{text(server_time)}" if number is not None and ts is not None else None
            event = session.card_event(mapping(told.get("update")), place, ts=ts, uuid=uuid, prompt_id=prompt_id)
            if event is not None:
                yield event
        elif text(value["type"]) in _TURN_ENDS:
            yield prompt_response(
                place=place,
                session_id=session.session_id,
                ts=ts,
                version=None,
                stop_reason=told.get("stopReason"),
                error=told if value["type"] == "turn_error" else {},
                prompt_id=prompt_id,
            )

    def _session(self, session_id: str) -> SessionUpdates:
        if session_id not in self._sessions:
            self._sessions[session_id] = SessionUpdates(session_id, "sse", self.fingerprint)
        return self._sessions[session_id]
