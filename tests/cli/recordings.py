"""The recordings by name: their truth in expected.json, and the session that each holds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.cli.conftest import RECORDINGS


def truth() -> dict[str, Any]:
    recordings: dict[str, Any] = json.loads((RECORDINGS.parent / "expected.json").read_bytes())["recordings"]
    return recordings


def log_of(name: str) -> Path:
    (log,) = (RECORDINGS / name).glob("qwen-home/projects/*/chats/*[0-9a-f].jsonl")
    return log


def session_of(name: str) -> str:
    return log_of(name).stem
