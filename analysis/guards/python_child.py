"""The process in which a guard in Python runs (isolated.py).

It replays the sessions that it is told of, and tells what the guard decides on each batch. What the guard prints goes to
stderr: the decisions have the output to themselves.
"""

from __future__ import annotations

import base64
import os
import pickle
import sys
from collections.abc import Sequence
from contextlib import suppress

import msgspec

from analysis.guards import Contender
from analysis.guards.base import Answered, Decision, GuardFailed, NoSuchGuard
from analysis.guards.checked import PythonGuard
from analysis.guards.isolated import END, Decided, Loaded, Wanted
from analysis.guards.load import load_python
from analysis.history import Batch, Handled
from analysis.trial import replayed


class _Telling(PythonGuard, frozen=True):
    """The guard; what it decides is told at once."""

    child: _Child

    def decide(self, batch: Batch, handled: Handled, answered: Answered) -> Sequence[Decision]:
        place = batch.turn.no, batch.response.no
        try:
            decisions = super().decide(batch, handled, answered)
        except GuardFailed as e:
            self.child.say(Decided(*place, failure=str(e)))
            raise
        self.child.say(Decided(*place, decisions=[*decisions]))
        return decisions


class _Child:
    def __init__(self) -> None:
        self._answers = os.fdopen(os.dup(1), "wb", buffering=0)
        os.dup2(2, 1)

    def run(self) -> None:
        """Until its input ends."""
        self.say(Loaded())
        wanted = msgspec.json.decode(sys.stdin.buffer.readline(), type=Wanted)
        try:
            guard = load_python(wanted.name, wanted.text)
        except NoSuchGuard as e:
            self.say(Loaded(unusable=str(e)))
            return
        self.say(Loaded(about=guard.about))
        contender = Contender(_Telling(guard.name, guard.about, guard.guard, self), wanted.text)
        for line in sys.stdin.buffer:
            with suppress(GuardFailed):  # told already
                replayed(pickle.loads(base64.b64decode(line)), contender)
            self.say(END)

    def say(self, message: Loaded | Decided) -> None:
        self._answers.write(msgspec.json.encode(message) + b"\n")


def main() -> None:
    _Child().run()
