"""A session put together record by record, for what no recorded client writes.

Each record follows the one before it in the chain, one second later.
"""

from __future__ import annotations

from typing import Any, Literal

from analysis.fingerprint import fingerprint
from ingest.records import Answer, AnyRecord, Call, Event, Place, Prompt, Response, Result, SessionFacts

START = 1_796_000_000_000_000
SECOND = 1_000_000


def call(
    recorded_id: str | None, args: dict[str, Any] | None = None, *, tool: str = "run_shell_command", part: int = 0
) -> Call:
    digest, canonical = fingerprint(tool, args)
    return Call(
        recorded_id=recorded_id,
        tool=tool,
        part=part,
        fingerprint=digest,
        args_json=canonical.decode(),
        args_bytes=len(canonical),
    )


class SessionLog:
    def __init__(self, session_id: str = "s", version: str = "0.24.4") -> None:
        self.session_id = session_id
        self.version = version
        self.records: list[AnyRecord] = []
        self._waited = 0

    def wait(self, *, minutes: int) -> SessionLog:
        """Nothing is written for so long."""
        self._waited += minutes * 60 * SECOND
        return self

    def _common(self) -> dict[str, Any]:
        number = len(self.records) + 1
        return {
            "place": Place("log.jsonl", (number - 1) * 100, 99, number),
            "session_id": self.session_id,
            "uuid": f"u{number}",
            "parent_uuid": f"u{number - 1}" if number > 1 else None,
            "ts": START + number * SECOND + self._waited,
            "version": self.version,
        }

    def prompt(self, origin: Literal["user", "cron", "notification"] = "user") -> SessionLog:
        self.records.append(Prompt(**self._common(), origin=origin))
        return self

    def bookkeeping(self, name: str, *, prompt_id: str | None = None) -> SessionLog:
        self.records.append(Event(**self._common(), channel="log", name=name, prompt_id=prompt_id))
        return self

    def response(
        self, *calls: Call, text: bool = False, thought: bool = False, model: str = "m", stop_reason: str | None = None
    ) -> SessionLog:
        self.records.append(
            Response(**self._common(), model=model, has_text=text, has_thought=thought, stop_reason=stop_reason, calls=calls)
        )
        return self

    def answer(
        self,
        recorded_id: str | None,
        answer: Answer = "tool",
        *,
        quoted_id: str | None = None,
        tool: str | None = None,
        status: str | None = None,
    ) -> SessionLog:
        self.records.append(
            Result(
                **self._common(),
                recorded_id=recorded_id,
                tool=tool,
                answer=answer,
                quoted_id=quoted_id,
                guard_hint="fingerprint" if answer == "duplicate" else None,
                status=status or ("success" if answer == "tool" else "error"),
            )
        )
        return self

    def facts(self) -> SessionFacts:
        return SessionFacts(
            session_id=self.session_id,
            kind="main",
            parent_session_id=None,
            client="qwen-code",
            records=tuple(self.records),
            events=(),
        )
