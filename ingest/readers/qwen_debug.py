"""Qwen Code's debug log, `debug/SESSION.txt` (written where QWEN_DEBUG_LOG_FILE is set): a line a message, some of several.

    2026-11-30T21:01:54.887Z [DEBUG] [STREAMING_TOOL_CALL_PARSER] Ignoring replay chunk for completed toolCall id=call_1

It alone names what the client dropped before it wrote its session log: a call whose id came twice in one response, in the
stream's parser or behind it. It also names what the guard did. A line is known by its own beginning and by our few phrases;
everything else, the continued lines of a message included, is passed over, so nothing here can be damaged. What a sub-agent
did stands in its parent's file.

How long it was written counts too: from a file that was silent nothing follows. `debug.stretch` is a time without a longer
silence than SILENCE, of `duration_ms`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from ingest.readers.base import Earlier, FingerprintFunction, Position, Reader, Row, Sample
from ingest.readers.qwen_wire import microseconds, time_of
from ingest.records import Event, Place, Problem

SILENCE = 60_000_000
"""Microseconds. The client writes lines before each request and at each tool call."""

_HEAD = rb"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z) \[(?:DEBUG|INFO|WARN|ERROR)\] "
_LINE = re.compile(rb"^" + _HEAD, re.MULTILINE)
_SAID = re.compile(
    rb"^" + _HEAD + rb"(?:\[[^\]\n]*\] )*(?:"
    rb"(?P<same_response_duplicate>Dropping same-turn duplicate functionCall id=(?P<id_1>[^\n]*) name=(?P<tool_1>[^\r\n]*)"
    rb"|Ignoring replay chunk for completed toolCall id=(?P<id_2>[^\r\n]*))"
    rb"|(?P<suppressed>Suppressing duplicate provider tool-call id: (?P<id_3>[^\n]*) \(tool: (?P<tool_3>[^\n]*)\))"
    rb"|(?P<dropped_batch>(?:Dropping batch|Stopping ACP turn) after repeated duplicate provider tool-call id: "
    rb"(?P<id_4>[^\n]*) \(tool: (?P<tool_4>[^\n]*)\)))",
    re.MULTILINE,
)
_ROUND = re.compile(r", round: (\d+)\Z")
"""A sub-agent's lines name its round behind the tool, and no other's do."""
_NAMES = ("same_response_duplicate", "suppressed", "dropped_batch")
_LINES_TO_CLAIM = 2
_LONGEST_NAME = 200


class _Stretch(Struct):
    first: int
    last: int
    place: Place
    """Where it begins."""


class QwenDebugReader(Reader):
    format = "qwen-debug"
    client = "qwen-code"
    version = 1

    def __init__(self, source: str, fingerprint: FingerprintFunction) -> None:
        super().__init__(source, fingerprint)
        self._session_id = self.name.removesuffix(".txt")
        self._pieces: list[bytes] = []
        """Of the line that has no end yet."""
        self._offset = 0
        self._line = 1
        self._stretch: _Stretch | None = None

    @classmethod
    def claims(cls, sample: Sample) -> bool:
        """From the first byte on: a log of JSON objects may quote such lines."""
        return _LINE.match(sample.head) is not None and len(_LINE.findall(sample.head)) >= _LINES_TO_CLAIM

    def feed(self, data: bytes) -> Iterator[Row]:
        end = data.rfind(b"\n") + 1
        if not end:
            self._pieces.append(data)
            return
        lines = b"".join((*self._pieces, data[:end]))
        self._pieces = [data[end:]]
        yield from self._read(lines)

    def finish(self) -> Iterator[Row]:
        yield from self._end_stretch()
        if unended := sum(map(len, self._pieces)):
            yield Problem("torn-tail", f"{unended} bytes: no line end", self._offset, self._line)

    def position(self) -> Position | None:
        stretch = self._stretch
        told = (
            [stretch.first, stretch.last, stretch.place.offset, stretch.place.length, stretch.place.line] if stretch else None
        )
        return Position(self._offset, self._line, {"stretch": told})

    def go_on(self, position: Position, earlier: Earlier) -> None:
        self._offset, self._line = position.offset, position.line
        if told := position.memory["stretch"]:
            first, last, *place = told
            self._stretch = _Stretch(first, last, Place(self.source, *place))

    def _read(self, lines: bytes) -> Iterator[Row]:
        said = {match.start(): match for match in _SAID.finditer(lines)}
        counted, number = 0, self._line
        for head in _LINE.finditer(lines):
            start = head.start()
            number += lines.count(b"\n", counted, start)
            counted = start
            ts = microseconds(time_of(head[1].decode()))
            place = Place(self.source, self._offset + start, lines.index(b"\n", start) - start, number)
            if ts is not None:
                yield from self._go_on_at(ts, place)
            if start in said:
                yield self._event(said[start], ts, place)
        self._line += lines.count(b"\n")
        self._offset += len(lines)

    def _go_on_at(self, ts: int, place: Place) -> Iterator[Row]:
        stretch = self._stretch
        if stretch is not None and abs(ts - stretch.last) <= SILENCE:
            stretch.first, stretch.last = min(stretch.first, ts), max(stretch.last, ts)
            return
        yield from self._end_stretch()
        self._stretch = _Stretch(ts, ts, place)

    def _end_stretch(self) -> Iterator[Row]:
        stretch, self._stretch = self._stretch, None
        if stretch is not None:
            yield Event(
                place=stretch.place,
                session_id=self._session_id,
                ts=stretch.first,
                channel="telemetry",
                name="debug.stretch",
                duration_ms=(stretch.last - stretch.first) / 1000,
            )

    def _event(self, match: re.Match[bytes], ts: int | None, place: Place) -> Event:
        name = next(name for name in _NAMES if match[name] is not None)
        tool = _first(match, "tool_1", "tool_3", "tool_4")
        of_round = _ROUND.search(tool or "")
        return Event(
            place=place,
            session_id=self._session_id,
            ts=ts,
            channel="telemetry",
            name=f"debug.{name}",
            call_id=_first(match, "id_1", "id_2", "id_3", "id_4"),
            tool=_ROUND.sub("", tool) if tool is not None else None,
            attributes={"round": of_round[1]} if of_round else {},
        )


def _first(match: re.Match[bytes], *groups: str) -> str | None:
    found = next((match[group] for group in groups if match[group] is not None), None)
    return None if found is None else found.decode("utf-8", "replace")[:_LONGEST_NAME]
