"""A session's records as turns, responses and calls: the live branch only, results paired with their calls.

Decided here: the live branch is walked back by `parent_uuid` from the last record, as the client does on resume (code,
0.24.4), so that rewound and aborted branches fall away. Where a parent is missing (a damaged line), the record before it in
the file takes its place: one lost line must not lose the session before it. Records without a uuid (other clients) are live.

A result is paired with the newest response that holds an unanswered call of its id, first such call first: ids repeat
(every client without a guard logs them unchanged), so pairing by id alone would give one call all the results.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from analysis.provider_ids import history_id, repeated_unit, says_no_id
from ingest.records import AnyRecord, ArgsState, Call, Compaction, Event, Prompt, Response, Result


@dataclass(slots=True, eq=False)
class TimelineCall:
    call: Call
    record: Response
    no: int
    args_state: ArgsState
    """As the reader saw it, until the session as a whole tells more (args_trust)."""
    result: Result | None = None
    corrupt_result_id: bool = False
    paired_by_order: bool = False
    """Neither the call nor its result has an id: only tool name and order join them."""

    @property
    def fingerprint(self) -> bytes | None:
        """None where the arguments are not what the client hashed."""
        return self.call.fingerprint if self.args_state == "whole" else None


@dataclass(slots=True, eq=False)
class TimelineResponse:
    no: int
    records: list[Response] = field(default_factory=list)
    calls: list[TimelineCall] = field(default_factory=list)

    @property
    def has_text(self) -> bool:
        return any(record.has_text for record in self.records)


Item = Prompt | TimelineResponse | Result | Compaction | Event


@dataclass(slots=True, eq=False)
class Turn:
    """From one prompt to the next. `prompt` is None where the log holds calls before any prompt."""

    no: int
    prompt: Prompt | None
    items: list[Item] = field(default_factory=list)
    responses: list[TimelineResponse] = field(default_factory=list)
    orphan_results: list[Result] = field(default_factory=list)
    """Answers whose call is missing from the log."""
    _call_of_result: dict[int, TimelineCall] = field(default_factory=dict)

    def call_answered_by(self, result: Result) -> TimelineCall | None:
        return self._call_of_result.get(id(result))

    def pair(self, result: Result) -> None:
        call = _call_awaiting(self, result, history_id(result.recorded_id))
        if call is not None and says_no_id(result.recorded_id):
            call.paired_by_order = True
        if call is None and (unit := repeated_unit(result.recorded_id)) is not None:
            call = _call_awaiting(self, result, unit)
            if call is not None:
                call.corrupt_result_id = True
        if call is None:
            self.orphan_results.append(result)
        else:
            call.result = result
            self._call_of_result[id(result)] = call

    @property
    def calls(self) -> Iterator[TimelineCall]:
        return (call for response in self.responses for call in response.calls)

    @property
    def records(self) -> Iterator[AnyRecord]:
        for item in self.items:
            if isinstance(item, TimelineResponse):
                yield from item.records
            else:
                yield item

    @property
    def inherited(self) -> bool:
        """Copied from the session this one was forked from."""
        first = next(self.records, None)
        return first is not None and first.forked_from is not None


def live_branch(records: Sequence[AnyRecord]) -> tuple[list[AnyRecord], list[AnyRecord]]:
    """The records on the live branch, and the others, both in the order of the file.

    A line that holds the answers to several calls makes several records of one uuid: they live together.
    """
    place_of: dict[str, int] = {}
    for index, record in enumerate(records):
        if record.uuid is not None:
            place_of.setdefault(record.uuid, index)
    live: set[str | None] = {None}
    index = _before(records, len(records))
    while index is not None and records[index].uuid not in live:
        uuid, parent = records[index].uuid, records[index].parent_uuid
        live.add(uuid)
        if parent is None:
            break
        index = place_of[parent] if parent in place_of else _before(records, place_of[uuid])
    return [record for record in records if record.uuid in live], [record for record in records if record.uuid not in live]


def _before(records: Sequence[AnyRecord], index: int) -> int | None:
    """The record with a uuid that stands before this place."""
    return next((before for before in range(index - 1, -1, -1) if records[before].uuid is not None), None)


def build_turns(live: Sequence[AnyRecord]) -> list[Turn]:
    """Turns from the records of the live branch. Bookkeeping before the first prompt belongs to no turn."""
    turns: list[Turn] = []
    for record in live:
        if isinstance(record, Prompt) and record.origin != "mid-turn":
            turns.append(Turn(len(turns) + 1, record, [record]))
        elif turns:
            _add(turns[-1], record)
            if isinstance(record, Result):
                _pair_late(turns, record)
        elif isinstance(record, Response | Result):
            turns.append(Turn(1, None))
            _add(turns[-1], record)
    return turns


def _pair_late(turns: Sequence[Turn], result: Result) -> None:
    """An answer that no call of its own turn waits for may be a late one: it comes after the person prompted again.

    Only the newest turn that holds the id is asked: where a later call reused it, an older open one did not get this answer.
    """
    if result not in turns[-1].orphan_results or says_no_id(result.recorded_id):
        return
    wanted = history_id(result.recorded_id)
    holders = (turn for turn in reversed(turns) if any(history_id(call.call.recorded_id) == wanted for call in turn.calls))
    newest = next(holders, None)
    call = _call_awaiting(newest, result, wanted) if newest is not None else None
    if call is not None:
        call.result = result
        turns[-1].orphan_results.remove(result)


def _add(turn: Turn, record: AnyRecord) -> None:
    match record:
        case Response():
            _add_response(turn, record)
        case Result():
            turn.items.append(record)
            turn.pair(record)
        case _:
            turn.items.append(record)


def _add_response(turn: Turn, record: Response) -> None:
    last = turn.responses[-1] if turn.responses else None
    joins = record.round_key is not None and last is not None and last.records[-1].round_key == record.round_key
    if last is None or not joins:
        last = TimelineResponse(len(turn.responses) + 1)
        turn.responses.append(last)
        turn.items.append(last)
    last.records.append(record)
    for call in record.calls:
        last.calls.append(TimelineCall(call, record, len(last.calls) + 1, call.args_state))


def _call_awaiting(turn: Turn, result: Result, wanted: str | None) -> TimelineCall | None:
    for response in reversed(turn.responses):
        for call in response.calls:
            if call.result is None and _answers(result, wanted, call):
                return call
    return None


def _answers(result: Result, wanted: str | None, call: TimelineCall) -> bool:
    if says_no_id(wanted):
        return says_no_id(call.call.recorded_id) and result.tool in (None, call.call.tool)
    return history_id(call.call.recorded_id) == wanted
