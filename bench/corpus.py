"""A corpus of Qwen Code logs to measure on: seeded, heavy-tailed, with the traits that cost time.

Sizes follow what was seen in real folders: most lines are small, one in a hundred is tens of kilobytes, a few are a megabyte
and more; a fifth of the bytes are arguments; text holds quotes, newlines, escapes and other scripts. One session in twenty
reuses ids. Each session has its own generator, so a corpus is the same however it is cut into pieces.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

_START = datetime(2026, 10, 1, tzinfo=UTC)
_TOOLS = (("read_file", 30), ("run_shell_command", 30), ("edit", 12), ("grep_search", 12), ("write_file", 6), ("glob", 10))
_PHRASES = (
    "    const value = await load(path);\n",
    'raise ValueError(f"no such key: {key!r}")\n',
    "\x1b[32mPASS\x1b[0m tests/unit/store.test.ts (41 ms)\n",
    "2026-10-01T12:00:00Z INFO worker 7 took 113 ms\n",
    "C:\\Users\\dev\\project\\src\\index.ts:12:5\n",
    "读取文件失败, 没有这样的文件\n",
    "the quick brown fox looks at the lazy dog again. ",
    "naïve café — “quoted” ✅\n",
)
_MODELS = ("kimi-k3", "qwen3-coder", "glm-5")
_LONGEST = 4_000_000


class _Session:
    def __init__(self, seed: int, number: int) -> None:
        self._random = random.Random(f"{seed}/{number}")
        self.id = str(self._uuid())
        self._clock = _START + timedelta(minutes=7 * number)
        self._parent: str | None = None
        self._reuses_ids = number % 20 == 0
        self._model = self._random.choice(_MODELS)
        self._calls = 0

    def lines(self, size: int) -> Iterator[bytes]:
        """Turns until the session holds about `size` bytes."""
        written = 0
        while written < size:
            for line in self._turn():
                written += len(line)
                yield line

    def question_and_answer(self) -> Iterator[bytes]:
        yield self._line({"type": "user", "message": {"role": "user", "parts": [{"text": "go"}]}})
        yield self._answer([{"text": "done"}])

    def _turn(self) -> Iterator[bytes]:
        yield self._line({"type": "user", "message": {"role": "user", "parts": [{"text": self._text(120)}]}})
        yield self._line(
            {"type": "system", "subtype": "attribution_snapshot", "systemPayload": {"snapshot": {"promptCount": 1}}}
        )
        for _ in range(1 + int(self._random.expovariate(0.25))):
            yield from self._round()
        yield self._told("api_response", {"input_token_count": 900, "output_token_count": 60})
        yield self._answer([{"text": self._text(600)}])

    def _round(self) -> Iterator[bytes]:
        yield self._told("api_response", {"input_token_count": 900, "output_token_count": 60})
        calls = [self._call(slot) for slot in range(1 if self._random.random() < 0.85 else 3)]
        yield self._answer([{"functionCall": call} for call in calls])
        for call in calls:
            yield self._told("tool_call", {"call_id": call["id"], "function_name": call["name"], "duration_ms": 150})
            response = {"id": call["id"], "name": call["name"], "response": {"output": self._text(2200)}}
            result = {"callId": call["id"], "status": "success", "executionStatus": "success", "resultDisplay": self._text(500)}
            message = {"role": "user", "parts": [{"functionResponse": response}]}
            yield self._line({"type": "tool_result", "message": message, "toolCallResult": result})

    def _call(self, slot: int) -> dict[str, Any]:
        name = self._random.choices([tool for tool, _ in _TOOLS], [weight for _, weight in _TOOLS])[0]
        self._calls += 1
        raw = f"{name}_{slot}" if self._reuses_ids else f"call_{self._random.getrandbits(96):024x}"
        args: dict[str, Any] = {"path": f"/src/{self._random.randrange(400)}.ts", "is_background": False}
        if name in ("edit", "write_file"):
            args["content"] = self._text(2500)
        elif name == "run_shell_command":
            args["command"] = self._text(60)
        return {"id": raw, "name": name, "args": args}

    def _told(self, name: str, event: dict[str, Any]) -> bytes:
        held = {"event.name": f"qwen-code.{name}", "model": self._model, "prompt_id": f"{self.id}########0", **event}
        return self._line({"type": "system", "subtype": "ui_telemetry", "systemPayload": {"uiEvent": held}})

    def _answer(self, parts: list[dict[str, Any]]) -> bytes:
        usage = {"promptTokenCount": 900, "candidatesTokenCount": 60, "cachedContentTokenCount": 0}
        message = {"role": "model", "parts": parts}
        return self._line({"type": "assistant", "model": self._model, "message": message, "usageMetadata": usage})

    def _line(self, held: dict[str, Any]) -> bytes:
        uuid = self._uuid()
        self._clock += timedelta(milliseconds=self._random.randrange(20, 4000))
        at = self._clock.isoformat(timespec="milliseconds").replace("+00:00", "Z")
        frame = {
            "uuid": uuid,
            "parentUuid": self._parent,
            "sessionId": self.id,
            "timestamp": at,
            "cwd": "/p",
            "version": "0.24.4",
        }
        self._parent = uuid
        return json.dumps({**frame, **held}, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"

    def _uuid(self) -> str:
        digits = f"{self._random.getrandbits(128):032x}"
        return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))

    def _text(self, median: int) -> str:
        """Around the median, now and then a thousand times as long."""
        length = min(_LONGEST, int(median * self._random.lognormvariate(0, 1.8)) + 1)
        start = self._random.randrange(len(_PROSE) - 1)
        repeated = _PROSE[start:] + _PROSE * (length // len(_PROSE) + 1)
        return repeated[:length]


_PROSE = "".join(random.Random("prose").choices(_PHRASES, k=5000))


def write_small_log(folder: Path, number: int, seed: int = 1) -> None:
    """A question and its answer."""
    session = _Session(seed, number)
    path = folder / f"projects/-p{number % 40}/chats/{session.id}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        file.writelines(session.question_and_answer())


def write_corpus(folder: Path, megabytes: int, seed: int = 1) -> tuple[int, int]:
    """One file a session below folder/projects/*/chats. Returns (sessions, bytes)."""
    sizes = random.Random(seed)
    total, number = 0, 0
    while total < megabytes * 1_000_000:
        session = _Session(seed, number)
        path = folder / f"projects/-p{number % 40}/chats/{session.id}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as file:
            file.writelines(session.lines(int(250_000 * sizes.lognormvariate(0, 1))))
        total += path.stat().st_size
        number += 1
    return number, total
