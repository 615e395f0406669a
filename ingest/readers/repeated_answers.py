"""The stable digest of each answer: that of the first answer to a like call that it equals but for times and process ids.

Taking the volatile parts out of every answer would cost a quarter of the reading, and only the answers to a call that was made
before are ever compared. So the first answer keeps its plain digest, and a later one to a like call takes it over if the two
are the same without their volatile parts. Like calls: one tool, and one first argument but for digits (a description, which
models word anew each time, is no first argument). Calls that are not alike after all cost a comparison and nothing else.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from functools import partial
from typing import Any

from msgspec import Raw, Struct

from ingest.readers.stable_text import same_but_for_volatile

VOLATILE_ARGUMENTS = frozenset(("description", "task_progress", "explanation", "reason", "reasoning", "rationale", "thought"))
"""Arguments in which a model explains itself: they change while the call stays what it is."""

_LONGEST = 16 * 1024
"""Bytes. Loops hide behind short answers: a status, the end of a test run."""
_ARGUMENT = 100
"""Characters of an argument that tell calls apart."""
_CALLS_REMEMBERED = 256
_ANSWERS_REMEMBERED = 4
_NUMBER_LENGTHS = 64
"""Bytes by which two answers may differ in length and still be the same but for numbers; and a twentieth of the length."""
_DIGITS = b"0123456789"

_Call = tuple[str, bytes]


Origin = tuple[int, int, int]
"""Where an answer's text can be had again: the record's offset and length, and the answer's place among its parts."""


class _Answer(Struct, gc=False):
    digest: bytes
    stable_digest: bytes
    size: int
    written: Callable[[], bytes] | bytes
    """Its text, or what reads it from the source again."""
    origin: Origin | None

    @property
    def text(self) -> bytes:
        if not isinstance(self.written, bytes):
            self.written = self.written()
        return self.written


class RepeatedAnswers:
    """Of one source; it has to see the calls and their answers in the order of the source."""

    def __init__(self) -> None:
        self._call_of_id: dict[str | None, _Call] = {}
        self._answers: OrderedDict[_Call, list[_Answer]] = OrderedDict()

    def called(self, call_id: str | None, tool: str, args: object) -> None:
        self._call_of_id[call_id] = tool, _first_argument(args)

    def stable_digest(
        self, call_id: str | None, tool: str | None, response: Raw, size: int, digest: bytes, origin: Origin | None = None
    ) -> bytes:
        """origin: None where the text cannot be had from the source again, because the record had to be mended."""
        if size > _LONGEST:
            return digest
        call = self._call_of_id.pop(call_id, None) or (tool or "", b"")
        known = self._answers.get(call)
        if known is None:
            self._remember(call, _Answer(digest, digest, size, bytes(response), origin))
            return digest
        self._answers.move_to_end(call)
        for answer in known:
            if answer.digest == digest:
                return answer.stable_digest
        fresh = _Answer(digest, digest, size, bytes(response), origin)
        for answer in known:
            if abs(answer.size - size) <= _NUMBER_LENGTHS + size // 20 and same_but_for_volatile(answer.text, fresh.text):
                return answer.stable_digest
        known.append(fresh)
        del known[:-_ANSWERS_REMEMBERED]
        return digest

    def memory(self) -> dict[str, Any]:
        """All that `recall` needs; of an answer its place and not its text, where there is one."""
        return {
            "open": [[call_id, *call] for call_id, call in self._call_of_id.items()],
            "answers": [[*call, [_kept(answer) for answer in answers]] for call, answers in self._answers.items()],
        }

    def recall(self, memory: dict[str, Any], text_at: Callable[[Origin], bytes]) -> None:
        for call_id, tool, argument in memory["open"]:
            self._call_of_id[call_id] = tool, argument
        for tool, argument, answers in memory["answers"]:
            self._answers[tool, argument] = [_recalled(answer, text_at) for answer in answers]

    def _remember(self, call: _Call, answer: _Answer) -> None:
        self._answers[call] = [answer]
        if len(self._answers) > _CALLS_REMEMBERED:
            self._answers.popitem(last=False)


def _kept(answer: _Answer) -> list[Any]:
    return [answer.digest, answer.stable_digest, answer.size, answer.origin, answer.text if answer.origin is None else None]


def _recalled(kept: list[Any], text_at: Callable[[Origin], bytes]) -> _Answer:
    digest, stable_digest, size, origin, text = kept
    written = text if origin is None else partial(text_at, tuple(origin))
    return _Answer(digest, stable_digest, size, written, origin)


def _first_argument(args: object) -> bytes:
    if isinstance(args, dict):
        for name, value in args.items():
            if isinstance(value, str) and name not in VOLATILE_ARGUMENTS:
                return value[:_ARGUMENT].encode("utf-8", "surrogatepass").translate(None, _DIGITS)
    return b""
