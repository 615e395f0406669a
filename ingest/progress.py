"""How a long run tells its caller how far it is; the command line draws it, a test collects it, `SILENT` forgets it.

The engine never prints: stdout belongs to data, and a bar in a log file of cron helps nobody.
"""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    def stage(self, name: str, total: int, unit: str) -> None:
        """A stage begins: `read` counts bytes, `analyse` sessions. The one before it is over."""

    def advance(self, amount: int) -> None:
        """So much more of the stage's total is done."""

    def say(self, sentence: str) -> None:
        """Something that the person has to know at once: why all is read again, what was set aside."""


class _Silent:
    def stage(self, name: str, total: int, unit: str) -> None:
        pass

    def advance(self, amount: int) -> None:
        pass

    def say(self, sentence: str) -> None:
        pass


SILENT: Progress = _Silent()
