"""A model provider on loopback that speaks OpenAI's streaming chat completions and says what a scenario tells it to.

It also is the witness: at each request it counts the marks that the calls have left so far and looks at the answers that the
client gives the model, so that what became of the calls of one response is known before the next is sent.
"""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from tests.e2e.scenario import SUB_AGENT_TASK, Response, ScriptedCall, ScriptedPrompt
from tests.e2e.truth import CallTruth, Done

MODEL = "scripted-model"
SUMMARY = "<state_snapshot><overall_goal>the scripted job</overall_goal></state_snapshot>"
"""What the client gets when it asks for a summary, or anything else on its own account."""
DUPLICATE = "was already handled. The duplicate tool call was ignored"


@dataclass
class _Sent:
    """A response that was sent, until it is known what became of its calls."""

    calls: list[tuple[ScriptedCall, str | None]]
    marks: Counter[str]


@dataclass
class Conversation:
    script: list[Response]
    told: list[list[CallTruth]] = field(default_factory=list)
    _sent: _Sent | None = None

    def next(self, messages: list[dict[str, Any]], marks: Counter[str]) -> list[tuple[ScriptedCall, str | None]]:
        """The calls of the next response with the ids to send; none: the model is done."""
        self.settle(marks, messages)
        if not self.script:
            return []
        earlier = [call["id"] for message in messages for call in message.get("tool_calls") or ()]
        calls = [(call, _sent_id(call, earlier)) for call in self.script.pop(0)]
        self._sent = _Sent(calls, marks)
        return calls

    def settle(self, marks: Counter[str], messages: list[dict[str, Any]] | None = None) -> None:
        """messages: of the client's next request in the conversation; None where there was none."""
        if self._sent is None:
            return
        sent, self._sent = self._sent, None
        calls = list(_logged(sent.calls))
        answers = _last_answers(messages or [], len(calls))
        new = marks - sent.marks
        came_back = messages is not None
        pairs = zip(calls, answers, strict=True)
        self.told.append([_truth(call, sent_id, answer, new, came_back) for (call, sent_id), answer in pairs])


def _logged(calls: list[tuple[ScriptedCall, str | None]]) -> Iterator[tuple[ScriptedCall, str | None]]:
    """Of one id twice in a response the client knows only the first."""
    seen: set[str] = set()
    for call, sent_id in calls:
        if not sent_id or sent_id not in seen:
            yield call, sent_id
        seen.add(sent_id or "")


def _sent_id(call: ScriptedCall, earlier: list[str]) -> str | None:
    return call.id if call.same_id_as is None else earlier[call.same_id_as - 1]


def _last_answers(messages: list[dict[str, Any]], count: int) -> list[str | None]:
    """The texts that answer the calls of the last response; the client keeps the order of the calls."""
    last = max((at for at, message in enumerate(messages) if message.get("tool_calls")), default=len(messages))
    texts = [_text(message) for message in messages[last:] if message.get("role") == "tool"]
    return [*texts, *[None] * count][:count]


def _truth(call: ScriptedCall, sent_id: str | None, answer: str | None, new: Counter[str], came_back: bool) -> CallTruth:
    ran = call.mark is not None and new[call.mark] > 0
    done: Done = "execute" if ran or answer is not None else "stop"
    # A compaction can take the answer away before the model sees it; that the client came back still says that it did not stop.
    if not ran and (DUPLICATE in answer if answer is not None else came_back):
        done = "suppress"
    return CallTruth(sent_id, call.mark, done, ran)


def _text(message: dict[str, Any]) -> str:
    content = message.get("content")
    if isinstance(content, list):
        return "".join(part.get("text", "") for part in content)
    return content or ""


class Provider:
    """Serves one run. Between `begin` and `end` of a prompt it plays that prompt's script."""

    def __init__(self, marks_file: Path) -> None:
        self._marks_file = marks_file
        self._lock = threading.Lock()
        self._prompt = ScriptedPrompt()
        self._main = self._sub = Conversation([])
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"provider": self}))
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}/v1"

    def begin(self, prompt: ScriptedPrompt) -> None:
        with self._lock:
            self._prompt = prompt
            self._main, self._sub = Conversation(list(prompt.responses)), Conversation(list(prompt.sub_agent))

    def end(self) -> tuple[Conversation, Conversation]:
        """The main conversation and the sub-agent's, all settled."""
        with self._lock:
            for conversation in (self._main, self._sub):
                conversation.settle(self.marks())
            return self._main, self._sub

    def marks(self) -> Counter[str]:
        return Counter(self._marks_file.read_text().split()) if self._marks_file.exists() else Counter()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def answer(self, request: dict[str, Any]) -> tuple[str, list[tuple[ScriptedCall, str | None]], int]:
        """(text, calls, tokens that the request took)"""
        messages = request["messages"]
        with self._lock:
            if not _is_of_the_job(request):
                return SUMMARY, [], self._prompt.prompt_tokens
            is_sub = any(SUB_AGENT_TASK in _text(message) for message in messages if message["role"] == "user")
            calls = (self._sub if is_sub else self._main).next(messages, self.marks())
            return "" if calls else self._prompt.last_words, calls, self._prompt.prompt_tokens


def _is_of_the_job(request: dict[str, Any]) -> bool:
    """The client also asks for titles, suggestions and summaries: without tools, or with an instruction of its own last."""
    tools = {tool["function"]["name"] for tool in request.get("tools") or ()}
    last = request["messages"][-1]
    ours = ("[scripted", "<task-notification>")
    return "run_shell_command" in tools and (last["role"] != "user" or any(word in _text(last) for word in ours))


class _Handler(BaseHTTPRequestHandler):
    provider: Provider
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        self._send("application/json", b'{"object":"list","data":[]}')

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        text, calls, tokens = self.provider.answer(request)
        if request.get("stream"):
            pieces = [*_chunks(text, calls, tokens), b"data: [DONE]\n\n"]
            self._send("text/event-stream", *pieces)
        else:
            choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
            self._send("application/json", json.dumps(_frame(choices=[choice], usage=_usage(tokens))).encode())

    def _send(self, content_type: str, *pieces: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Type", content_type)
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        for piece in pieces:
            self.wfile.write(piece)
            self.wfile.flush()


def _frame(**members: Any) -> dict[str, Any]:
    return {"id": "chatcmpl-scripted", "object": "chat.completion.chunk", "created": 0, "model": MODEL, **members}


def _usage(tokens: int) -> dict[str, int]:
    return {"prompt_tokens": tokens, "completion_tokens": 10, "total_tokens": tokens + 10}


def _chunks(text: str, calls: list[tuple[ScriptedCall, str | None]], tokens: int) -> Iterator[bytes]:
    def chunk(delta: dict[str, Any], finish: str | None = None) -> bytes:
        return _event(_frame(choices=[{"index": 0, "delta": delta, "finish_reason": finish}]))

    yield chunk({"role": "assistant", "content": text})
    for index, (call, sent_id) in enumerate(calls):
        for piece in _call_pieces(call, sent_id):
            yield chunk({"tool_calls": [{"index": index, **piece}]})
    yield chunk({}, "tool_calls" if calls else "stop")
    yield _event(_frame(choices=[], usage=_usage(tokens)))


def _call_pieces(call: ScriptedCall, sent_id: str | None) -> Iterator[dict[str, Any]]:
    """As OpenAI streams a call: id and name first, then the text of the arguments bit by bit."""
    arguments = json.dumps(call.arguments())
    first = arguments if call.one_chunk else ""
    head: dict[str, Any] = {"type": "function", "function": {"name": call.tool, "arguments": first}}
    yield head if sent_id is None else {"id": sent_id, **head}
    if not call.one_chunk:
        half = len(arguments) // 2
        for piece in (arguments[:half], arguments[half:]):
            yield {"function": {"arguments": piece}}


def _event(frame: dict[str, Any]) -> bytes:
    return b"data: " + json.dumps(frame).encode() + b"\n\n"
