"""DuckDB's errors as ours, by their words: what happened to which file, and what to try."""

from __future__ import annotations

from pathlib import Path

import duckdb

from ingest.errors import LoopscopeError, StoreBusy, StoreDamaged, StoreTooNew, StoreUnwritable, WorkingFileDamaged


def working_file(db: Path) -> Path:
    return db.with_name(db.name + ".work")


def explain(e: duckdb.Error, db: Path, *, of_copy: bool = False) -> LoopscopeError | None:
    """None where the error is a fault of this program. of_copy: the working file was just copied from `db`."""
    work = working_file(db)
    text = first_line(e)
    if "lock on file" in text:
        return StoreBusy(f"{work} is open in another program ({text}). Close it there, then try again.")
    if "version number" in text or "newer version" in text:
        return StoreTooNew(f"{db} was written by a later DuckDB than this one ({duckdb.__version__}). Upgrade loopscope.")
    if any(words in text for words in ("No space left", "Could not write", "Permission denied", "Cannot open")):
        return StoreUnwritable(f"{work} cannot be written ({text}). Make room or choose another path with --db.")
    if isinstance(e, duckdb.OutOfMemoryException) or "failed to pin block" in text or "failed to allocate" in text:
        return StoreUnwritable(f"{work} wants more memory than there is ({text}). Free some, and run the same command again.")
    if "not a valid DuckDB" in text or "orrupt" in text or "read enough bytes" in text or isinstance(e, duckdb.FatalException):
        if of_copy:
            return StoreDamaged(
                f"{db} is damaged ({text}). `loopscope rebuild` makes it anew from the logs that are still there."
            )
        return WorkingFileDamaged(f"{work} is damaged ({text}).")
    return None


def first_line(e: duckdb.Error) -> str:
    return str(e).splitlines()[0]
