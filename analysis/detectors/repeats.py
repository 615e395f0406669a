"""Which repeats of a call count, where other calls lie between them.

Two do not: one that is answered otherwise than the time before (polling that sees a change), and one with an edit in between
that was not made before (a build after each edit says "ok" each time, and is work).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable

from analysis.call_keys import answer_key
from analysis.fingerprint import canonical_name
from analysis.turn_state import JudgedCall

_EDITING = frozenset(("edit", "write_file", "notebook_edit", "apply_patch", "multi_edit"))


class Repeats:
    """Walks calls in their order; `by_key` has, for each key, its first call and then each repeat that counts."""

    def __init__(self, key: Callable[[JudgedCall], Hashable | None]) -> None:
        self.by_key: dict[Hashable, list[JudgedCall]] = {}
        self._key = key
        self._last: dict[Hashable, tuple[int, bytes | None]] = {}
        self._edits: set[bytes] = set()

    def walk(self, calls: Iterable[JudgedCall]) -> Repeats:
        for call in calls:
            key = self._key(call)
            if key is not None:
                now = (len(self._edits), answer_key(call))
                before = self._last.get(key)
                self._last[key] = now
                if before is None or _is_idle(before, now):
                    self.by_key.setdefault(key, []).append(call)
            self._note_edit(call)
        return self

    def _note_edit(self, call: JudgedCall) -> None:
        fingerprint = call.of_batch.fingerprint
        if call.outcome == "executed" and fingerprint is not None and canonical_name(call.of_batch.call.call.tool) in _EDITING:
            self._edits.add(fingerprint)


def _is_idle(before: tuple[int, bytes | None], now: tuple[int, bytes | None]) -> bool:
    (edits_before, answer_before), (edits, answer) = before, now
    return edits_before == edits and (answer_before is None or answer is None or answer_before == answer)
