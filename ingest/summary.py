"""What one run of `ingest` did: the numbers of this run, not of the store."""

from __future__ import annotations

from msgspec import Struct, field


class Skipped(Struct, frozen=True):
    """A file that was not read, and why, for the person who expected it to be."""

    path: str
    reason: str


class Summary(Struct, kw_only=True):
    read: int = 0
    """Files read in this run, new or changed."""
    unchanged: int = 0
    gone: int = 0
    """Files below the given paths that were there in an earlier run; their rows are kept."""
    skipped: list[Skipped] = field(default_factory=list)
    unreadable: list[Skipped] = field(default_factory=list)
    records: int = 0
    calls: int = 0
    problems: int = 0
    """Damaged pieces in the files read in this run, unreadable files included."""
    problems_before: int = 0
    """In the files that have not changed since an earlier run, which told of them."""
    sessions_analysed: int = 0
    failed: list[Skipped] = field(default_factory=list)
    """Sessions whose analysis failed, by id: a fault of this program. They have the findings of the run before, or none."""
    findings: dict[str, int] = field(default_factory=dict)
    """Of the whole store, by kind."""
    bytes_read: int = 0
    seconds: float = 0.0
    published: bool = False
    stopped: bool = False
    """Somebody asked for an end before all was done; the next run completes it."""
