"""A guard for loopscope in Python: the shipped fingerprint rule, but a call that changes nothing may run again.

    loopscope guard diff fingerprint mine --guard mine=my_guard.py:ReadsAreFree

`RepeatGuard` brings what the client's guards share (no id: run; one response, one id: once; a breaker), so that a guard says no
more than what a repeat is. Any object with `decide(batch, handled, answered)` will do as well: one decision a call of
`batch.calls`, each of "execute", "suppress", "trip", "drop", "unknown".
"""

from __future__ import annotations

from analysis.guards.base import RepeatGuard
from analysis.history import BatchCall, Handled

READS = frozenset(("read_file", "read_many_files", "list_directory", "glob", "grep_search", "search_file_content"))


class ReadsAreFree(RepeatGuard, frozen=True):
    name: str = "reads-are-free"
    about: str = "as fingerprint, but reading again is no replay"

    def repeats(self, call: BatchCall, handled: Handled) -> bool | None:
        if call.provider_id is None or call.call.call.tool in READS or not handled.has_call(call.provider_id):
            return False
        first = handled.first(call.provider_id)
        return None if first is None or call.fingerprint is None else first == call.fingerprint
