"""The class of a call: what the fingerprint rule says of it on the history that really happened.

The rule is that of the entry point, whichever guard was in force, so that the classes of two versions can be compared. A
`replay` is one by definition; whether it was a legitimate re-run, the class does not claim to know.
"""

from __future__ import annotations

from analysis.history import BatchCall, Handled

LATER_REPLAY = "repeats a later call under this id, which the shipped guard does not compare with"


def classify(call: BatchCall, handled: Handled) -> tuple[str, str | None]:
    """The class, and why where it is not plain."""
    if call.provider_id is None:
        return "no-id", None
    if call.same_response:
        return "same-response", None
    if not handled.has_call(call.provider_id):
        return "first-use", None
    first = handled.first(call.provider_id)
    if call.fingerprint is None:
        return "unknown", f"arguments {call.call.args_state}"
    if first is None:
        return "unknown", "arguments of the first call under this id are not whole"
    if first == call.fingerprint:
        return "replay", None
    return "collision", LATER_REPLAY if handled.has_fingerprint(call.provider_id, call.fingerprint) else None
