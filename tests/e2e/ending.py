"""How long a prompt may take, when a client has said all, and how one is ended that does not end by itself."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

LIMIT_SECONDS = 180


def wait_until_quiet(folder: Path, seconds: float = 1.5) -> None:
    """Until no log below the folder has grown for so long."""

    def sizes() -> list[int]:
        return [log.stat().st_size for log in sorted(folder.rglob("*.jsonl"))]

    deadline = time.monotonic() + LIMIT_SECONDS
    seen: list[int] | None = None
    while seen != (seen := sizes()) and time.monotonic() < deadline:
        time.sleep(seconds)


def kill_group(process: subprocess.Popen[bytes]) -> None:
    """SIGKILL to the process and what it started in its group, as a power cut would: nothing is said any more."""
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
