"""PR #9436, shipped from 0.23: the id and the fingerprint of the first call handled under it.

Only the first counts: after A and B under one id, repeating B is never a replay to it (recording a4), which `any-fingerprint`
closes.
"""

from __future__ import annotations

from analysis.guards.base import RepeatGuard
from analysis.history import BatchCall, Handled


class Fingerprint(RepeatGuard, frozen=True):
    name: str = "fingerprint"
    about: str = "a repeat is the same id with the same tool and arguments as its first call (PR #9436, shipped from 0.23)"

    def repeats(self, call: BatchCall, handled: Handled) -> bool | None:
        if call.provider_id is None or not handled.has_call(call.provider_id):
            return False
        first = handled.first(call.provider_id)
        if first is None or call.fingerprint is None:
            return None
        return first == call.fingerprint
