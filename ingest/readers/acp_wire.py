"""Recorded wire logs of the Agent Client Protocol: one JSON-RPC message a line, plain or as {t, dir, msg} with time and sender.

What the wire says of calls is a second telling of what the session's log says, so no calls are made of it: tool cards, and how
each prompt ended (`prompt_response`: the only place where the daemon of 0.21 says that a turn is over). Texts are not kept.

Requests of the two sides are numbered independently of each other. Where the sender is not told, an answer belongs to the
newest open request of its number: an agent's question is asked, and answered, while the prompt is still open.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

import msgspec
from msgspec import Struct

from ingest.readers.acp_updates import SessionUpdates
from ingest.readers.base import FingerprintFunction, Row, Sample
from ingest.readers.lines import LineReader
from ingest.readers.qwen_events import short, text
from ingest.readers.told_values import mapping, moment
from ingest.records import Event, Place

_ATTRIBUTE_CHARACTERS = 200
_TELLS_A_SESSION_AGAIN = "session/load"


class _Request(Struct):
    method: str
    sender: str | None
    params: dict[str, Any]
    ts: int | None


class AcpWireReader(LineReader[dict[str, Any]]):
    format = "acp-wire"
    client = "acp"
    version = 1
    decoder: ClassVar[msgspec.json.Decoder[Any]] = msgspec.json.Decoder(dict[str, Any])

    def __init__(self, source: str, fingerprint: FingerprintFunction) -> None:
        super().__init__(source, fingerprint)
        self._agent_version: str | None = None
        self._sessions: dict[str, SessionUpdates] = {}
        self._open: dict[str, list[_Request]] = {}

    @classmethod
    def claims(cls, sample: Sample) -> bool:
        return any(_is_acp(_message(value)) for value in sample.values)

    def from_object(self, value: dict[str, Any], exact: bool) -> dict[str, Any]:
        return value

    def is_record(self, value: dict[str, Any]) -> bool:
        return _is_rpc(_message(value))

    def rows(self, wire: dict[str, Any], place: Place) -> Sequence[Row] | None:
        message = _message(wire)
        if not _is_rpc(message):
            return None
        ts = next((found for name in ("t", "ts", "timestamp") if (found := moment(wire.get(name))) is not None), None)
        sender = text(wire.get("dir"))
        if "method" in message:
            request = _Request(str(message["method"]), sender, mapping(message.get("params")), ts)
            if message.get("id") is not None:
                self._open.setdefault(repr(message["id"]), []).append(request)
            return tuple(self._requested(request, place, ts))
        asked = self._answered_request(message, sender)
        return tuple(self._answered(asked, message, place, ts)) if asked is not None else ()

    def _requested(self, request: _Request, place: Place, ts: int | None) -> Iterator[Row]:
        common: dict[str, Any] = {"ts": ts, "version": self._agent_version}
        session = self._session(request.params)
        if request.method == "session/update":
            event = session.card_event(mapping(request.params.get("update")), place, **common)
            if event is not None:
                yield event
        elif request.method == "session/request_permission":
            yield session.asked(mapping(request.params.get("toolCall")), place, **common)
        elif request.method == _TELLS_A_SESSION_AGAIN:
            yield session.reset(place, **common)

    def _answered(self, request: _Request, message: dict[str, Any], place: Place, ts: int | None) -> Iterator[Row]:
        result = mapping(message.get("result"))
        if request.method == "initialize":
            self._agent_version = text(mapping(result.get("agentInfo")).get("version"))
        elif request.method == "session/request_permission":
            call = mapping(request.params.get("toolCall"))
            answer = _decision(result, request.params.get("options"))
            yield self._session(request.params).answered(call, answer, place, ts=ts, version=self._agent_version)
        elif request.method == "session/prompt":
            yield self._prompt_response(request, message, result, place, ts)

    def _prompt_response(
        self, request: _Request, message: dict[str, Any], result: dict[str, Any], place: Place, ts: int | None
    ) -> Event:
        error = mapping(message.get("error"))
        return prompt_response(
            place=place,
            session_id=self._session(request.params).session_id,
            ts=ts,
            version=self._agent_version,
            stop_reason=result.get("stopReason"),
            error={"code": error.get("code"), "message": error.get("message"), **mapping(error.get("data"))} if error else {},
            rpc_code=error.get("code"),
            duration_ms=(ts - request.ts) / 1000 if ts is not None and request.ts is not None else None,
        )

    def _answered_request(self, message: dict[str, Any], sender: str | None) -> _Request | None:
        requests = self._open.get(repr(message.get("id")), [])
        for index in range(len(requests) - 1, -1, -1):
            if sender is None or requests[index].sender != sender:
                return requests.pop(index)
        return None

    def _session(self, params: dict[str, Any]) -> SessionUpdates:
        session_id = text(params.get("sessionId")) or ""
        if session_id not in self._sessions:
            self._sessions[session_id] = SessionUpdates(session_id, "acp", self.fingerprint)
        return self._sessions[session_id]


def prompt_response(
    *,
    place: Place,
    session_id: str,
    ts: int | None,
    version: str | None,
    stop_reason: object,
    error: dict[str, Any],
    rpc_code: object = None,
    prompt_id: str | None = None,
    duration_ms: float | None = None,
) -> Event:
    """How a prompt ended, told by whatever transport. The error's own code says more than that of JSON-RPC."""
    loop_type = text(error.get("loopType"))
    known = {"errorKind": text(error.get("errorKind")), "loopType": loop_type, "rpcCode": text(rpc_code)}
    return Event(
        place=place,
        session_id=session_id,
        ts=ts,
        version=version,
        channel="wire",
        name="prompt_response",
        prompt_id=prompt_id,
        status=text(stop_reason),
        error_class=text(error.get("code")),
        message=short(text(error.get("details"), error.get("message"))),
        duration_ms=duration_ms,
        loop_type=loop_type.lower() if loop_type else None,
        attributes={name: value[:_ATTRIBUTE_CHARACTERS] for name, value in known.items() if value is not None},
    )


def _message(value: dict[str, Any]) -> dict[str, Any]:
    inner = value.get("msg")
    return inner if isinstance(inner, dict) else value


def _is_rpc(message: dict[str, Any]) -> bool:
    return message.get("jsonrpc") == "2.0" and ("method" in message or "result" in message or "error" in message)


def _is_acp(message: dict[str, Any]) -> bool:
    """Language servers and MCP speak JSON-RPC too: the methods and the capabilities tell."""
    if message.get("jsonrpc") != "2.0":
        return False
    params, result = mapping(message.get("params")), mapping(message.get("result"))
    return str(message.get("method")).startswith("session/") or "clientCapabilities" in params or "agentCapabilities" in result


def _decision(result: dict[str, Any], options: object) -> str:
    outcome = mapping(result.get("outcome"))
    chosen = text(outcome.get("optionId"))
    if chosen is None:
        return text(outcome.get("outcome")) or "unanswered"
    offered = options if isinstance(options, list) else []
    kind = next((text(option.get("kind")) for option in map(mapping, offered) if option.get("optionId") == chosen), None)
    if kind is not None and kind.startswith(("allow", "reject")):
        return "approved" if kind.startswith("allow") else "denied"
    return chosen
