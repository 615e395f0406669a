"""What a guard is: a policy that sees each batch of calls and says what becomes of them.

All guards share one frame, read from the client's code (0.21.10 and 0.24.4, oracle op `breaker`) and seen in its runs:
- a call without a provider id is executed: there is nothing to compare;
- a raw id again within one response is dropped before the guard sees it, whatever its arguments;
- a call that repeats a handled one is answered synthetically (`suppress`);
- with a breaker, a repeat of an id already answered synthetically since the last clearing trips: that call is `trip`, the rest
  of the batch `drop`, and the turn ends. (The client's breaker also fires on one handled id twice in a batch; the second
  never reaches it, because of the rule before.)
They differ in what counts as a repeat and in whether there is a breaker. Which ids are handled, and when the answered ids are
cleared, depends on the entry point and belongs to the replay, so that every guard is judged in the same world (`contender.py`
tells how another world is tried).

The built-in guards, those of a Python file or an installed package, and programs of their own (`outside.py`) all have this one
interface.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol, get_args

from msgspec import Struct

from analysis.history import Batch, BatchCall, Handled

Decision = Literal["execute", "suppress", "trip", "drop", "unknown"]
DECISIONS: frozenset[str] = frozenset(get_args(Decision))


class Answered(Struct):
    """How often each provider id was answered synthetically since the last clearing."""

    surely: dict[str, int]
    maybe: dict[str, int]
    """Calls that could not be decided (arguments redacted or cut): a repeat of these may trip or not."""


class Guard(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def about(self) -> str: ...

    def decide(self, batch: Batch, handled: Handled, answered: Answered) -> Sequence[Decision]:
        """One decision a call of `batch.calls`, in order. Changes nothing: the replay notes what was suppressed."""
        ...


class GuardFailed(Exception):
    """A guard that is not ours gave no usable answer; the text says how. Its session is lost to it, the run goes on."""


class NoSuchGuard(Exception):
    """What was written names no guard; the text says why."""


class RepeatGuard(Struct, frozen=True):
    """The frame that the client's guards share; a subclass says what a repeat is."""

    name: str
    about: str
    trips_after: int | None = 1
    """So many synthetic answers to an id before the next repeat of it trips; None: there is no breaker."""

    def repeats(self, call: BatchCall, handled: Handled) -> bool | None:
        """Whether the call repeats a handled one; None where its arguments, or the first call's, are not whole."""
        raise NotImplementedError

    def decide(self, batch: Batch, handled: Handled, answered: Answered) -> list[Decision]:
        calls = batch.calls
        repeats = [False if call.provider_id is None or call.same_response else self.repeats(call, handled) for call in calls]
        if self.trips_after is not None:
            fires = self._tripping_call(calls, repeats, answered, self.trips_after)
            if fires == "unknown":
                return ["unknown"] * len(calls)
            if fires is not None:
                return ["trip" if index == fires else "drop" for index in range(len(calls))]
        return [_decision(call, repeat) for call, repeat in zip(calls, repeats, strict=True)]

    def _tripping_call(
        self, calls: Sequence[BatchCall], repeats: Sequence[bool | None], answered: Answered, trips_after: int
    ) -> int | Literal["unknown"] | None:
        undecided = False
        for index, (call, repeat) in enumerate(zip(calls, repeats, strict=True)):
            if call.provider_id is None or repeat is False:
                continue
            times = answered.surely.get(call.provider_id, 0)
            if repeat and times >= trips_after:
                return index
            undecided = undecided or times + answered.maybe.get(call.provider_id, 0) >= trips_after
        return "unknown" if undecided else None


def _decision(call: BatchCall, repeat: bool | None) -> Decision:
    if call.same_response:
        return "drop"
    if repeat is None:
        return "unknown"
    return "suppress" if repeat else "execute"
