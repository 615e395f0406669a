"""What the exit status of `loopscope` means; scripts and cron jobs depend on it."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    OK = 0
    """Done, though a log may have been damaged: see the summary."""
    FOUND = 1
    """A gate was asked for and found something (`check`, `guard check`, `guard diff` with a gate, `ingest --strict`). Nothing
    else uses it: a failure of our own must not look like a finding."""
    USAGE = 2
    """The request makes no sense: unknown option, guard or column, an ambiguous prefix, a file of settings with a mistake."""
    NO_DATA = 3
    """Nothing to answer from: no store, no readable log, no such session, nothing that passes the filters."""
    CANNOT_TELL = 4
    """There is data and no answer: the query was stopped, or the program failed. A gate never passes with it."""
    STORE = 5
    """The store is busy, damaged, or newer than the program."""
    INTERRUPTED = 130
    """Ctrl-C in the middle of work, as shells number it. `serve` and `--follow` wait for it, and end with 0."""
