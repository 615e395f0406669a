"""A guard in Python in a process of its own, which can be killed: code that never returns would hold up the whole run.

The child replays the same session by itself: it is told the facts when the session begins, and tells what the guard decides on
each batch, one after the other. So a guard has the whole interface at hand (`guard.decide(batch, handled, answered)`), and a
batch costs a line of text. What the guard does wrong costs it the session that it was at, as with a program (outside.py).
"""

from __future__ import annotations

import base64
import pickle
import sys
from collections.abc import Sequence

import msgspec

from analysis.guards.base import Answered, Decision, GuardFailed, NoSuchGuard
from analysis.guards.checked import checked
from analysis.guards.process import GIVEN_UP_AFTER, START_FACTOR, LineProcess, ProcessGuard
from analysis.history import Batch, Handled
from ingest.records import SessionFacts

_CHILD = "import sys; sys.path[:] = sys.argv[1:]; from analysis.guards.python_child import main; main()"
"""With our own path, so that it finds what we would find, and no folder before it (`-P`)."""


_INTERPRETER_SECONDS = 60.0


class Wanted(msgspec.Struct, frozen=True):
    """Our first line: which guard to load."""

    name: str
    text: str


class Loaded(msgspec.Struct, frozen=True):
    """Its answer."""

    about: str = ""
    unusable: str | None = None


class Decided(msgspec.Struct, frozen=True):
    """On a batch; without one it is the end of the session."""

    turn_no: int = 0
    response_no: int = 0
    decisions: list[str] = []
    failure: str | None = None


END = Decided()


class IsolatedGuard(ProcessGuard):
    def __init__(self, name: str, text: str, reply_seconds: float) -> None:
        self.name = name
        self.about = "a guard in Python"
        self._text = text
        self._reply_seconds = reply_seconds
        self._process: LineProcess | None = None
        self._is_at_one = False
        """A session was begun, and its end not told yet."""
        self._failures = 0
        """Sessions in a row in which it had to be killed, or died."""

    def start(self) -> None:
        """Raises NoSuchGuard where the text names none, GuardFailed where its module does not load and does not say why."""
        if self._process is not None:
            return
        self._process = LineProcess([sys.executable, "-P", "-c", _CHILD, *sys.path])
        try:
            self._process.listen(_INTERPRETER_SECONDS)  # up to here it was not the guard that took its time
            wanted = msgspec.json.encode(Wanted(self.name, self._text))
            loaded = msgspec.json.decode(self._process.ask(wanted, START_FACTOR * self._reply_seconds), type=Loaded)
        except GuardFailed:
            self._stop()
            raise
        if loaded.unusable is not None:
            self._stop()
            raise NoSuchGuard(loaded.unusable)
        self.about = loaded.about

    def close(self) -> bool:
        if self._process is None:
            return True
        process, self._process = self._process, None
        return process.close(kindly=True)

    def begin(self, facts: SessionFacts) -> None:
        """Before the first batch of a session is decided."""
        if self._failures >= GIVEN_UP_AFTER:
            raise GuardFailed(f"it was not asked: it failed in {self._failures} sessions in a row")
        if self._is_at_one and self._next() != END:
            self._stop()  # another guard failed in that session, which was left before its end
        self.start()
        assert self._process is not None
        self._process.send(base64.b64encode(pickle.dumps(facts, pickle.HIGHEST_PROTOCOL)))
        self._is_at_one = True

    def decide(self, batch: Batch, handled: Handled, answered: Answered) -> Sequence[Decision]:
        told = self._next()
        if told.failure is not None:
            raise GuardFailed(told.failure)
        if (told.turn_no, told.response_no) != (batch.turn.no, batch.response.no):
            raise GuardFailed(f"it is at response {told.response_no} of turn {told.turn_no}, which is another")
        return checked(told.decisions, len(batch.calls))

    def _next(self) -> Decided:
        assert self._process is not None
        try:
            told = msgspec.json.decode(self._process.listen(self._reply_seconds), type=Decided)
        except (GuardFailed, msgspec.DecodeError) as e:
            self._failures += 1
            self._stop()
            raise GuardFailed(str(e)) from e
        self._failures = 0
        return told

    def _stop(self) -> None:
        self._is_at_one = False
        if self._process is not None:
            self._process.close(kindly=False)
            self._process = None
