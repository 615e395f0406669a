"""Counterfactual, shipped nowhere: the id and the fingerprint of any call seen under it.

Only where the id counts as handled at all, so that it never stops what the id alone would let through: a suffixed repeat can be
answered while the id's own first call is not (a damaged log).
"""

from __future__ import annotations

from analysis.guards.base import RepeatGuard
from analysis.history import BatchCall, Handled


class AnyFingerprint(RepeatGuard, frozen=True):
    name: str = "any-fingerprint"
    about: str = "a repeat is the same id with the same tool and arguments as any earlier call under it (never shipped)"

    def repeats(self, call: BatchCall, handled: Handled) -> bool | None:
        if call.provider_id is None or not handled.has(call.provider_id):
            return False
        if call.fingerprint is None:
            return None if handled.has_any_call(call.provider_id) else False
        if handled.has_fingerprint(call.provider_id, call.fingerprint):
            return True
        return None if handled.has_fingerprint(call.provider_id, None) else False
