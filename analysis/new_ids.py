"""Sessions in which every call comes under an id that was not there before: nearly all of them.

No guard that goes by ids does anything there, so that none has to be asked and no history to be kept. Why that is exact:

- `seen` holds whatever an id can be handled under, and more: each id that a call, an answer or a compaction's entry before it
  has, as recorded and as the provider's, whether or not a compaction dropped it again. `Handled` answers from these alone, so
  for an id outside `seen` it knows nothing, in every scope, and each call is `first-use` (or `no-id`).
- An id with a suffix stands for the bare one only where that is in the history. `seen` holds all of the history, so a suffix
  that would be taken off there is taken off here, and the bare id, being seen, makes the session none of these.
- A call under an id that is not handled is run by each guard of this frame (`RestsOn`), so that no decision is an exception, no
  guard trips, and none differs from what was done where that was to run the call: where the client answered in place of a
  tool, the session is none of these either.
"""

from __future__ import annotations

from collections.abc import Sequence

from analysis.history import Batch, BatchCall, Handled, Walk
from analysis.model_history import Past
from analysis.provider_ids import history_id, provider_id_of
from analysis.timeline import TimelineCall, TimelineResponse
from analysis.turn_state import TurnState
from ingest.records import Compaction, Result

_WAS_RUN = frozenset(("tool", "cancelled", "interrupted"))


def batches_of_new_ids(walk: Walk, states: Sequence[TurnState]) -> list[list[Batch]] | None:
    """The batches of each turn; None where the session has to be walked."""
    seen: set[str | None] = set()
    nothing = Handled((), 0, Past())
    of_turns: list[list[Batch]] = []
    for state in states:
        batches: list[Batch] = []
        of_turns.append(batches)
        for item in state.turn.items:
            if isinstance(item, TimelineResponse):
                if item.calls:
                    calls = _new_calls(item.calls, seen)
                    if calls is None:
                        return None
                    is_last = item is state.turn.responses[-1]
                    batches.append(Batch(walk, state.turn, state.entry_point, item, calls, nothing, True, is_last))
            elif isinstance(item, Result):
                recorded = item.recorded_id
                if recorded is not None and (recorded not in seen or ":" in recorded):
                    seen.add(history_id(recorded))
            elif isinstance(item, Compaction):
                seen.update(history_id(entry.recorded_id) for entry in item.entries)
    return of_turns


def _new_calls(calls: Sequence[TimelineCall], seen: set[str | None]) -> list[BatchCall] | None:
    """None where an id was seen, or something else was done with a call than to run it. Adds the ids to those seen."""
    new: list[BatchCall] = []
    for call in calls:
        result = call.result
        if result is not None and (result.answer not in _WAS_RUN or result.quoted_id):
            return None
        provider, source = provider_id_of(call.history_id, seen)
        if call.call.provider_id is not None:
            provider, source = call.call.provider_id, "recorded"
        if provider is not None:
            if provider in seen:
                return None
            seen.add(provider)
        seen.add(call.history_id)
        new.append(BatchCall(call, provider, source, call.fingerprint))
    return new
