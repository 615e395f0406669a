"""Where one run of the client lives: its home with settings, its project folder, its environment, its command."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path

from tests.e2e.provider import MODEL
from tests.e2e.scenario import MARKS
from tests.support import npm_packages

SETTINGS = {
    "security": {"auth": {"selectedType": "openai"}},
    "general": {"disableAutoUpdate": True, "enableAutoUpdate": False},
    "privacy": {"usageStatisticsEnabled": False},
    "telemetry": {"enabled": False},
    "tools": {"approvalMode": "yolo"},
    "memory": {"enableManagedAutoMemory": False, "enableManagedAutoDream": False},
}
CLOSED_PORT = "http://127.0.0.1:9"


@dataclass(frozen=True)
class ClientHome:
    folder: Path
    version: str
    has_network: bool
    """No network namespace could be had: all but loopback goes to a proxy that is not there."""

    @property
    def qwen(self) -> Path:
        return self.folder / "home" / ".qwen"

    @property
    def project(self) -> Path:
        return self.folder / "project"

    @property
    def marks(self) -> Path:
        return self.project / MARKS

    def create(self) -> None:
        self.qwen.mkdir(parents=True)
        self.project.mkdir()
        (self.project / "notes.txt").write_text("hello\n")
        (self.qwen / "settings.json").write_text(json.dumps(SETTINGS))

    def command(self, *arguments: str) -> list[str]:
        package = npm_packages.client(self.version)
        entry = next(package / name for name in ("cli-entry.js", "cli.js") if (package / name).exists())
        return [str(npm_packages.node()), str(entry), "--approval-mode", "yolo", *arguments]

    def environment(self, provider_url: str) -> dict[str, str]:
        proxies = ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy")
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.qwen.parent),
            "LANG": "C.UTF-8",
            "NO_COLOR": "1",
            "OPENAI_API_KEY": "none",
            "OPENAI_BASE_URL": provider_url,
            "OPENAI_MODEL": MODEL,
            **(dict.fromkeys(proxies, CLOSED_PORT) if self.has_network else {}),
            "NO_PROXY": "127.0.0.1",
            "no_proxy": "127.0.0.1",
        }
