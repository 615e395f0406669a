"""A child process that answers one line with one line, and cannot do worse to us than fail.

It may crash, hang, never read, write without end, with or without line ends, on either stream. So it is read and written
at once, never waiting for one alone; what it writes is kept up to a limit; each exchange has a time limit; and it lives in a
process group of its own, which is killed whole. POSIX alone has the calls for that.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import time
from abc import ABC, abstractmethod
from collections.abc import Sequence

from analysis.guards.base import Answered, Decision, GuardFailed
from analysis.history import Batch, Handled

LONGEST_LINE = 1 << 20
_STDERR_KEPT = 2000
_PIECE = 1 << 16
_GOODBYE_SECONDS = 2.0

GIVEN_UP_AFTER = 10
"""Sessions in a row that a guard failed in: one that hangs each time would take a time limit a session."""
START_FACTOR = 2
"""Its first answer may take so much longer: an interpreter has to start and a bundle to load."""


class CannotStart(Exception):
    """There is no such program, or it may not be run: nothing to do with any session."""


class ProcessGuard(ABC):
    """A guard that runs in a process of its own."""

    name: str
    about: str

    @abstractmethod
    def start(self) -> None:
        """Raises CannotStart where there is no such program, GuardFailed where it does not say hello."""

    @abstractmethod
    def close(self) -> bool:
        """Whether it went by itself when it was told to."""

    @abstractmethod
    def decide(self, batch: Batch, handled: Handled, answered: Answered) -> Sequence[Decision]: ...


class LineProcess:
    def __init__(self, command: Sequence[str]) -> None:
        """Raises CannotStart."""
        try:
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
            )
        except OSError as e:
            raise CannotStart(f"{command[0]} cannot be started: {e.strerror or e}") from e
        streams = (self._process.stdin, self._process.stdout, self._process.stderr)
        self._in, self._out, self._err = (stream.fileno() for stream in streams if stream is not None)
        for end in (self._in, self._out, self._err):
            os.set_blocking(end, False)
        self._to_write = bytearray()
        self._unread = bytearray()
        self._told = bytearray()
        self._reads_stderr = True

    def send(self, line: bytes) -> None:
        """Goes out with the next exchange; nothing is waited for."""
        self._to_write += line + b"\n"

    def ask(self, line: bytes, seconds: float) -> bytes:
        """The next line that it writes. Raises GuardFailed."""
        self.send(line)
        return self.listen(seconds)

    def listen(self, seconds: float) -> bytes:
        """The next line that it writes, once all that was sent is gone. Raises GuardFailed."""
        ends_at = time.monotonic() + seconds
        if (line := self._next_line()) is not None:
            return line
        with selectors.DefaultSelector() as ready:
            ready.register(self._out, selectors.EVENT_READ, self._read)
            if self._reads_stderr:
                ready.register(self._err, selectors.EVENT_READ, self._listen)
            ready.register(self._in, selectors.EVENT_WRITE, self._write)
            while True:
                if (line := self._next_line()) is not None:
                    return line
                left = ends_at - time.monotonic()
                if left <= 0:
                    raise GuardFailed(f"no answer within {seconds:g} s{self._last_words()}")
                for key, _ in ready.select(left):
                    if not key.data():
                        ready.unregister(key.fd)

    def _next_line(self) -> bytes | None:
        if self._to_write or (found := self._unread.find(b"\n")) < 0:
            return None
        line = bytes(self._unread[:found])
        del self._unread[: found + 1]
        return line

    def _write(self) -> bool:
        """False where there is nothing left to write."""
        try:
            del self._to_write[: os.write(self._in, self._to_write[:_PIECE])]
        except BlockingIOError:
            return True
        except OSError:  # it closed its input; how it ended shows on its output
            self._to_write.clear()
        return bool(self._to_write)

    def _read(self) -> bool:
        piece = os.read(self._out, _PIECE)
        if not piece:
            raise GuardFailed(self._how_it_ended())
        self._unread += piece
        if len(self._unread) > LONGEST_LINE:
            raise GuardFailed(f"it wrote more than {LONGEST_LINE >> 20} MB where one line was asked for{self._last_words()}")
        return True

    def _listen(self) -> bool:
        piece = os.read(self._err, _PIECE)
        self._told += piece
        del self._told[:-_STDERR_KEPT]
        self._reads_stderr = bool(piece)
        return self._reads_stderr

    def _how_it_ended(self) -> str:
        with contextlib.suppress(subprocess.TimeoutExpired):
            code = self._process.wait(_GOODBYE_SECONDS)
            how = f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"
            return f"it {how}{self._last_words()}"
        return f"it closed its output{self._last_words()}"

    def _last_words(self) -> str:
        with contextlib.suppress(BlockingIOError):
            self._listen()
        lines = self._told.decode("utf-8", "replace").strip().splitlines()
        return f"; it said: {lines[-1][:300]}" if lines else ""

    def close(self, *, kindly: bool) -> bool:
        """kindly: it is told by the end of its input, and given time to go. Whether it went by itself."""
        if kindly:
            with contextlib.suppress(OSError):
                os.write(self._in, self._to_write[:_PIECE])
        streams = [stream for stream in (self._process.stdin, self._process.stdout, self._process.stderr) if stream is not None]
        went = False
        with contextlib.suppress(OSError):
            streams[0].close()
        if kindly:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(_GOODBYE_SECONDS)
                went = True
        with contextlib.suppress(OSError):  # what it started may still be there
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        for stream in streams[1:]:
            stream.close()
        return went
