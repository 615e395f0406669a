"""A run kept for the ordinary tests: what the client wrote and what really happened, without this machine's folders."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

from tests.e2e.client_home import ClientHome
from tests.e2e.truth import RunTruth

TRUTH = "truth.json"
HOME = "qwen-home"
KEPT = ("projects/*/chats/*", "projects/*/subagents/*/*", "usage_record.jsonl")


def keep(target: Path, truth: RunTruth, home: ClientHome) -> None:
    folder = target / truth.version / f"{truth.scenario}.{truth.entry_point}"
    moved = {str(home.project): "/workspace/demo", str(home.qwen.parent): "/home/demo"}
    moved |= {_slug(one): _slug(other) for one, other in moved.items()}
    for path in sorted(path for pattern in KEPT for path in home.qwen.glob(pattern) if path.is_file()):
        kept = folder / HOME / _replaced(str(path.relative_to(home.qwen)), moved)
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_bytes(_replaced(path.read_bytes().decode(), moved).encode())
    (folder / TRUTH).write_bytes(msgspec.json.format(msgspec.json.encode(truth), indent=1) + b"\n")


def kept_runs(folder: Path) -> Iterator[tuple[RunTruth, Path]]:
    """The truth of each kept run, and the client's home."""
    for path in sorted(folder.glob(f"*/*/{TRUTH}")):
        yield msgspec.json.decode(path.read_bytes(), type=RunTruth), path.parent / HOME


def _slug(path: str) -> str:
    """As the client names a project's folder."""
    return "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in path)


def _replaced(text: str, moved: dict[str, str]) -> str:
    for one, other in moved.items():
        text = text.replace(one, other)
    return text
