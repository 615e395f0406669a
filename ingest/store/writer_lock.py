"""One writer at a time: a lock file beside the store, which the operating system frees when its holder dies."""

from __future__ import annotations

import os
from pathlib import Path

from filelock import FileLock, Timeout

from ingest.errors import StoreBusy, StoreUnwritable


def acquire_writer_lock(db: Path, wait: float) -> FileLock:
    """wait: seconds that a second writer is patient for. Raises StoreBusy naming the holder, StoreUnwritable."""
    path = lock_path(db)
    # Without `fallback_to_soft` the file is ours to write in: it names the holder.
    lock = FileLock(path, timeout=wait, mode=0o600, fallback_to_soft=False, on_acquired=_name_holder)
    try:
        lock.acquire()
    except Timeout as e:
        raise StoreBusy(
            f"{db} is being written by {_holder(path)}, and still was after {wait:g} seconds. "
            "Wait for it or stop it, then try again; reading the store is possible meanwhile."
        ) from e
    except (OSError, NotImplementedError) as e:
        raise StoreUnwritable(f"{path} cannot be locked: {e}. Choose a path on a local disk with --db.") from e
    return lock


def lock_path(db: Path) -> Path:
    return db.with_name(db.name + ".lock")


def _name_holder(descriptor: int) -> None:
    os.ftruncate(descriptor, 0)
    os.write(descriptor, f"{os.getpid()}\n".encode())


def _holder(path: Path) -> str:
    try:
        return f"process {int(path.read_text())}"
    except (OSError, ValueError):
        return "another process"
