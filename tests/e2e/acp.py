"""`qwen --acp`: one daemon for all prompts, spoken to in JSON-RPC over its stdin and stdout, as an editor does."""

from __future__ import annotations

import json
import queue
import subprocess
import threading
from typing import Any

from tests.e2e.client_home import ClientHome
from tests.e2e.ending import LIMIT_SECONDS, kill_group, wait_until_quiet
from tests.e2e.provider import Provider
from tests.e2e.scenario import ScriptedPrompt
from tests.e2e.truth import End


class Acp:
    def __init__(self, home: ClientHome, provider: Provider) -> None:
        self._logs = home.qwen
        self._errors = (home.folder / "stderr.txt").open("wb")
        self._process = subprocess.Popen(
            home.command("--acp"),
            cwd=home.project,
            env=home.environment(provider.url),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            start_new_session=True,
        )
        self._answers: queue.Queue[dict[str, Any]] = queue.Queue()
        self._calls = 0
        threading.Thread(target=self._listen, daemon=True).start()
        self._call("initialize", protocolVersion=1, clientCapabilities={"fs": {"readTextFile": False, "writeTextFile": False}})
        self._session_id = self._call("session/new", cwd=str(home.project), mcpServers=[])["result"]["sessionId"]

    def prompt(self, prompt: ScriptedPrompt) -> End:
        answer = self._call("session/prompt", sessionId=self._session_id, prompt=[{"type": "text", "text": prompt.text}])
        if prompt.sub_agent:
            wait_until_quiet(self._logs, 5)  # it works on behind the prompt's back
        if answer.get("result", {}).get("stopReason") == "end_turn":
            return "completed"
        if answer.get("error", {}).get("data", {}).get("code") == "LOOP_DETECTED":
            return "stopped-visibly"
        raise RuntimeError(f"the daemon answered {json.dumps(answer)[:2000]}")

    def close(self) -> None:
        """Its orderly end is that of its stdin. 0.15.10 writes its log behind, and loses what is unwritten then."""
        assert self._process.stdin is not None
        wait_until_quiet(self._logs)
        self._process.stdin.close()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            kill_group(self._process)
        self._errors.close()

    def _call(self, method: str, **params: Any) -> dict[str, Any]:
        self._calls += 1
        self._send({"jsonrpc": "2.0", "id": self._calls, "method": method, "params": params})
        try:
            while True:
                answer = self._answers.get(timeout=LIMIT_SECONDS)
                if answer["id"] == self._calls:
                    return answer
        except queue.Empty:
            raise RuntimeError(f"no answer to {method} within {LIMIT_SECONDS} s") from None

    def _send(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        self._process.stdin.flush()

    def _listen(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            try:
                message = json.loads(line)
            except ValueError:
                continue  # what a library prints is no message
            if "method" in message and "id" in message:
                self._serve(message)
            elif "id" in message:
                self._answers.put(message)

    def _serve(self, request: dict[str, Any]) -> None:
        """The daemon asks back: whether it may run a tool. It may."""
        options = request.get("params", {}).get("options") or []
        allowed = next((option["optionId"] for option in options if option.get("kind") == "allow_once"), None)
        if request["method"] == "session/request_permission" and allowed is not None:
            answer: dict[str, Any] = {"result": {"outcome": {"outcome": "selected", "optionId": allowed}}}
        else:
            answer = {"error": {"code": -32601, "message": "not offered"}}
        self._send({"jsonrpc": "2.0", "id": request["id"], **answer})
