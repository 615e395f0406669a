"""The arguments of a call, whole: what stands in the facts where it is short enough, else read again from its log.

The facts keep a kilobyte of each call's canonical arguments. A guard that compares more than fingerprints needs all of them,
and a guard that does not canonicalise needs them as they were logged; both come from the source on demand. Where that is gone
or says something else now, the call is undecided and the reason told: nothing is compared that is not known.
"""

from __future__ import annotations

from typing import Protocol

from analysis.fingerprint import canonical_json, unsorted_json
from analysis.model_history import PastCall
from ingest.records import HistoryEntry, Place


class ArgumentsUnknown(Exception):
    """The text says why."""


class Source(Protocol):
    def __call__(self, place: Place, fingerprint: bytes, /) -> object:
        """The decoded arguments of the call of this fingerprint in that record. Raises ArgumentsUnknown."""


def no_source(place: Place, fingerprint: bytes) -> object:
    """Where there are no logs: a test case, a notebook."""
    raise ArgumentsUnknown("its arguments are longer than what is kept of them, and there is no log to read them from")


def canonical_arguments(call: PastCall, source: Source) -> bytes:
    """Canonical JSON, as it is hashed. Raises ArgumentsUnknown."""
    if isinstance(call, HistoryEntry):
        raise ArgumentsUnknown("a compaction kept its fingerprint alone")
    kept = call.call.args_json.encode()
    if call.args_state == "whole" and len(kept) == call.call.args_bytes:
        return kept
    return canonical_json(_from_log(call, source))


def logged_arguments(call: PastCall, source: Source) -> bytes:
    """JSON with the keys in the order of the log. Raises ArgumentsUnknown."""
    if isinstance(call, HistoryEntry):
        raise ArgumentsUnknown("a compaction kept its fingerprint alone")
    return unsorted_json(_from_log(call, source))


def _from_log(call: PastCall, source: Source) -> object:
    assert not isinstance(call, HistoryEntry)
    fingerprint = call.fingerprint
    if fingerprint is None:
        raise ArgumentsUnknown(f"arguments {call.args_state}")
    return source(call.record.place, fingerprint)
