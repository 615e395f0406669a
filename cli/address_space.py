"""A bound on what this process may take of memory, whoever in it takes it; where the system does not tell the size, none."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def address_space() -> int:
    """That of this process, in bytes; 0 where the system does not tell."""
    try:
        return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):
        return 0


@contextmanager
def bounded_to(ceiling: int) -> Iterator[None]:
    """Beyond it an allocation fails, which DuckDB and Python both tell as an error."""
    if not address_space():
        yield
        return
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (min(end for end in (ceiling, soft, hard) if end >= 0), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
