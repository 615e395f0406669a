"""`qwen -p`: a process for each prompt, the later ones with --continue."""

from __future__ import annotations

import subprocess
import time

from tests.e2e.client_home import ClientHome
from tests.e2e.ending import LIMIT_SECONDS, kill_group, wait_until_quiet
from tests.e2e.provider import Provider
from tests.e2e.scenario import ScriptedPrompt
from tests.e2e.truth import End


class Headless:
    def __init__(self, home: ClientHome, provider: Provider) -> None:
        self._home = home
        self._provider = provider
        self._prompts = 0

    def prompt(self, prompt: ScriptedPrompt) -> End:
        self._prompts += 1
        resume = ["--continue"] if self._prompts > 1 else []
        errors = self._home.folder / f"stderr-{self._prompts}.txt"
        with errors.open("wb") as stderr:
            process = subprocess.Popen(
                self._home.command(*resume, "-p", prompt.text),
                cwd=self._home.project,
                env=self._home.environment(self._provider.url),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=stderr,
                start_new_session=True,
            )
            was_killed = self._wait(process, prompt)
        if was_killed:
            return "truncated"
        told = errors.read_text("utf-8", "replace")
        if process.returncode == 0:
            return "completed"
        if "oop detect" in told:
            return "stopped-visibly"
        raise RuntimeError(f"the client ended with {process.returncode}: {told[-2000:]}")

    def _wait(self, process: subprocess.Popen[bytes], prompt: ScriptedPrompt) -> bool:
        deadline = time.monotonic() + LIMIT_SECONDS
        while process.poll() is None:
            time.sleep(0.05)
            if prompt.kill_at is not None and self._provider.marks()[prompt.kill_at]:
                wait_until_quiet(self._home.qwen)  # the client writes its log a little behind
                kill_group(process)
                return True
            if time.monotonic() > deadline:
                kill_group(process)
                raise RuntimeError(f"no end within {LIMIT_SECONDS} s")
        return False

    def close(self) -> None:
        pass
