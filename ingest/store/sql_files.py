"""The SQL texts that make up a store, and the checksums by which a store remembers which text made it."""

from __future__ import annotations

import hashlib
from importlib import resources

_FILES = resources.files("ingest.store")


def sql_text(name: str) -> str:
    return (_FILES / name).read_text(encoding="utf-8")


def migration_texts() -> list[tuple[int, str, str]]:
    """Number, name and text of each migration, in order."""
    return sorted(
        (int(file.name.split("_")[0]), file.name, file.read_text(encoding="utf-8"))
        for file in (_FILES / "migrations").iterdir()
        if file.name.endswith(".sql")
    )


def checksum(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
