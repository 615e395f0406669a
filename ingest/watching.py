"""Waiting for a change below the roots, whatever becomes of the roots meanwhile.

The operating system tells of changes below a folder, and stops telling when the folder itself is removed, replaced or not there
yet. So each root's identity is looked at twice a second, and watching begins anew when it is another. What nobody tells of (a
network share, links that lead out of the roots) is found by the look at everything that is due every half minute.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ingest.progress import Progress

if TYPE_CHECKING:
    from watchfiles import Change

_TICK = 0.5
"""Seconds until a call returns without a change."""
_SETTLED = 50
_AT_ONCE = 400
"""Milliseconds. What follows within 50 ms belongs to the change, for 400 ms at most: a log that never rests is told of too."""
_LOOK_EVERY = 30.0
_LOOK_BLINDLY_EVERY = 2.0
"""Seconds, where the operating system does not tell of changes at all."""

_Identity = tuple[int, int] | None


class Watch:
    """ignored: the store; with what stands beside it under the same name it changes because of us."""

    def __init__(self, roots: Sequence[Path], ignored: Path, stop: threading.Event, report: Progress) -> None:
        self._roots = roots
        self._ignored = os.path.realpath(ignored)
        self._stop = stop
        self._report = report
        self._watched: list[_Identity] = []
        self._changes: Iterator[object] | None = None
        self._next_look = 0.0
        self._is_blind = False

    def changed(self) -> bool:
        """Whether something may have changed; waits for half a second, or until the stop."""
        identities = [_identity(root) for root in self._roots]
        if identities != self._watched:
            self._watched = identities
            self._begin()
            return True
        if self._told():
            return True
        if time.monotonic() < self._next_look:
            return False
        self._next_look = time.monotonic() + (_LOOK_BLINDLY_EVERY if self._is_blind else _LOOK_EVERY)
        return True

    def _begin(self) -> None:
        # It brings an event loop that no other run needs.
        from watchfiles import watch

        there = [os.path.realpath(root) for root, identity in zip(self._roots, self._watched, strict=True) if identity]
        self._next_look = time.monotonic() + _LOOK_EVERY
        self._changes = None
        if there and not self._is_blind:
            self._changes = watch(
                *there,
                watch_filter=self._is_foreign,
                debounce=_AT_ONCE,
                step=_SETTLED,
                rust_timeout=round(_TICK * 1000),
                stop_event=self._stop,
                yield_on_timeout=True,
                ignore_permission_denied=True,
            )
            self._told()  # watching begins with the first wait: what comes from here on is not missed

    def _told(self) -> bool:
        if self._changes is None:
            self._stop.wait(_TICK)
            return False
        try:
            return bool(next(self._changes, None))
        except OSError as e:
            # A root vanished just now, or there are more folders than the system lets us watch.
            self._changes = None
            if all(_identity(root) == watched for root, watched in zip(self._roots, self._watched, strict=True)):
                self._is_blind = True
                self._next_look = 0.0
                self._report.say(f"Changes cannot be watched ({e}): a look every {_LOOK_BLINDLY_EVERY:g} seconds instead.")
            return True

    def _is_foreign(self, change: Change, path: str) -> bool:
        return not path.startswith(self._ignored)


def _identity(path: Path) -> _Identity:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino
