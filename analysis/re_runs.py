"""Why a replay may be a legitimate re-run: something that changes state ran in between, or the answer is another one.

It is the residual risk named in PR #9436, and no more than a note: a replay stays one.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from analysis.call_keys import answer_key
from analysis.fingerprint import canonical_name
from analysis.turn_state import JudgedCall

_CHANGES_STATE = frozenset(("edit", "write_file", "run_shell_command", "agent", "notebook_edit", "todo_write", "save_memory"))
_RAN = frozenset(("executed", "failed", "cancelled"))


class ReRuns:
    """calls: of the whole session, in order."""

    def __init__(self, calls: Sequence[JudgedCall]) -> None:
        self._calls = calls
        self._changing = [index for index, call in enumerate(calls) if _changes_state(call)]
        self._next_other = _next_other([calls[index].of_batch.fingerprint for index in self._changing])

    def note(self, first: int, again: int) -> str | None:
        """Of two calls with one fingerprint, by their positions."""
        before, call = self._calls[first], self._calls[again]
        changed = self._changed_between(first, again)
        if changed is not None:
            return f"possible legitimate re-run: {changed.of_batch.call.call.tool} ran in between"
        answers = answer_key(before), answer_key(call)
        if call.outcome in _RAN and None not in answers and answers[0] != answers[1]:
            return "possible legitimate re-run: the result differs from the first one's"
        return None

    def _changed_between(self, first: int, again: int) -> JudgedCall | None:
        """The first call between them that changes state and is not the same call itself."""
        at = bisect_right(self._changing, first)
        if at < len(self._changing) and self._fingerprint(at) == self._calls[again].of_batch.fingerprint:
            at = self._next_other[at]
        is_between = at < len(self._changing) and self._changing[at] < again
        return self._calls[self._changing[at]] if is_between else None

    def _fingerprint(self, at: int) -> bytes | None:
        return self._calls[self._changing[at]].of_batch.fingerprint


def _changes_state(call: JudgedCall) -> bool:
    return call.outcome in _RAN and canonical_name(call.of_batch.call.call.tool) in _CHANGES_STATE


def _next_other(fingerprints: Sequence[bytes | None]) -> list[int]:
    """For each place the next that has another fingerprint: a loop of ten thousand equal commands is passed in one step."""
    following = [len(fingerprints)] * len(fingerprints)
    for at in range(len(fingerprints) - 2, -1, -1):
        is_other = fingerprints[at] != fingerprints[at + 1]
        following[at] = at + 1 if is_other else following[at + 1]
    return following
