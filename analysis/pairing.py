"""Which call a result answers: the newest response that holds an unanswered call of its id, first such call first.

Ids repeat (every client without a guard logs them unchanged), so pairing by id alone would give one call all the results. Each
id leads to the calls that wait for it, so that a session of one id and ten thousand calls is paired as fast as any other.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from analysis.provider_ids import history_id, repeated_unit, says_no_id
from ingest.records import Result

if TYPE_CHECKING:
    from analysis.timeline import TimelineCall, TimelineResponse, Turn


class _Waiting(Struct, eq=False, gc=False):
    """The calls that one response has under one id."""

    turn: Turn
    response: TimelineResponse
    calls: list[TimelineCall]
    older: _Waiting | None
    """Of an earlier response of the same turn."""
    answered: int = 0
    """So many of the calls, from the first, need not be looked at again."""


class Pairing:
    """Takes a session's calls and results in their order.

    Most results come in the order of the calls: the next one is for the newest response's first call without an answer. While
    that is so, no call is put in its place by id.
    """

    def __init__(self) -> None:
        self._turn: Turn | None = None
        self._newest: TimelineResponse | None = None
        """The newest response that holds calls, and its turn."""
        self._answered = 0
        """So many of its calls, from the first, have their answer."""
        self._unplaced: list[tuple[Turn, TimelineResponse, Sequence[TimelineCall]]] = []
        self._by_id: dict[str | None, _Waiting] = {}
        """In the newest turn that holds the id, whether or not a call of it still waits there."""
        self._without_id: dict[str | None, _Waiting] = {}
        """By tool; under None those of any tool."""

    def add(self, turn: Turn, response: TimelineResponse, calls: Sequence[TimelineCall]) -> None:
        """calls: those that came to the response just now, at its end."""
        if response is not self._newest:
            self._turn, self._newest, self._answered = turn, response, 0
        self._unplaced.append((turn, response, calls))

    def pair(self, turn: Turn, result: Result) -> bool:
        """Whether a call was found.

        One that no call of its turn waits for may be late: it comes after the person prompted again. Only the newest turn that
        holds the id is asked: where a later call reused it, an older open one did not get this answer.
        """
        recorded = result.recorded_id
        wanted = history_id(recorded)
        if turn is self._turn and self._newest is not None and not says_no_id(wanted):
            calls = self._newest.calls
            while self._answered < len(calls) and calls[self._answered].result is not None:
                self._answered += 1
            if self._answered < len(calls) and calls[self._answered].history_id == wanted:
                calls[self._answered].result = result
                return True
        self._place_calls()
        call = self._open(turn, wanted, result.tool)
        if call is not None:
            call.paired_by_order = says_no_id(recorded)
        elif (unit := repeated_unit(recorded)) is not None:
            call = self._open(turn, unit, result.tool)
            if call is not None:
                call.corrupt_result_id = True
        if call is None and not says_no_id(wanted):
            call = _first_open(self._by_id, wanted, self._by_id.get(wanted))
        if call is None:
            return False
        call.result = result
        return True

    def _place_calls(self) -> None:
        for turn, response, calls in self._unplaced:
            for call in calls:
                if says_no_id(call.call.recorded_id):
                    _add(self._without_id, call.call.tool, turn, response, call)
                    _add(self._without_id, None, turn, response, call)
                else:
                    _add(self._by_id, call.history_id, turn, response, call)
        self._unplaced.clear()

    def _open(self, turn: Turn, wanted: str | None, tool: str | None) -> TimelineCall | None:
        """In this turn."""
        waiting, key = (self._without_id, tool) if says_no_id(wanted) else (self._by_id, wanted)
        newest = waiting.get(key)
        return _first_open(waiting, key, newest) if newest is not None and newest.turn is turn else None


def _add(
    waiting: dict[str | None, _Waiting], key: str | None, turn: Turn, response: TimelineResponse, call: TimelineCall
) -> None:
    newest = waiting.get(key)
    if newest is None or newest.turn is not turn:
        waiting[key] = _Waiting(turn, response, [call], None)
    elif newest.response is response:
        newest.calls.append(call)
    else:
        waiting[key] = _Waiting(turn, response, [call], newest)


def _first_open(waiting: dict[str | None, _Waiting], key: str | None, newest: _Waiting | None) -> TimelineCall | None:
    """Calls that have their answer, and responses of such calls alone, are left behind for good; but one stays, as it tells the
    turn."""
    while newest is not None:
        while newest.answered < len(newest.calls):
            call = newest.calls[newest.answered]
            if call.result is None:
                return call
            newest.answered += 1
        if newest.older is None:
            return None
        waiting[key] = newest = newest.older
    return None
