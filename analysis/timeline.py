"""A session's records as turns, responses and calls: the live branch only, results paired with their calls.

Decided here: the live branch is walked back by `parent_uuid` from the last record, as the client does on resume (code,
0.24.4), so that rewound and aborted branches fall away. Where a parent is missing (a damaged line), the record before it in
the file takes its place: one lost line must not lose the session before it. Records without a uuid (other clients) are live.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise

from msgspec import Struct

from analysis.pairing import Pairing
from analysis.provider_ids import history_id
from ingest.records import AnyRecord, ArgsState, Call, Compaction, Event, Prompt, Response, Result


class TimelineCall(Struct, eq=False, gc=False):
    call: Call
    record: Response
    no: int
    args_state: ArgsState
    """As the reader saw it, until the session as a whole tells more (args_trust)."""
    fingerprint: bytes | None
    """None where the arguments are not what the client hashed."""
    history_id: str | None
    """Under which the model's history holds it."""
    result: Result | None = None
    corrupt_result_id: bool = False
    paired_by_order: bool = False
    """Neither the call nor its result has an id: only tool name and order join them."""

    def distrust(self, args_state: ArgsState) -> None:
        self.args_state = args_state
        self.fingerprint = None


class TimelineResponse(Struct, eq=False, gc=False):
    no: int
    records: list[Response]
    calls: list[TimelineCall]
    has_text: bool = False


Item = Prompt | TimelineResponse | Result | Compaction


class Turn(Struct, eq=False, gc=False):
    """From one prompt to the next. `prompt` is None where the log holds calls before any prompt."""

    no: int
    prompt: Prompt | None
    records: Sequence[AnyRecord]
    """All of its records, as the log has them."""
    items: list[Item] = []
    """The parts of the conversation, in order; bookkeeping is none."""
    responses: list[TimelineResponse] = []
    calls: list[TimelineCall] = []
    results: list[Result] = []
    log_events: list[Event] = []
    orphan_results: list[Result] = []
    """Answers whose call is missing from the log."""
    last_item: TimelineResponse | Result | None = None
    """The last part of the conversation; prompts, bookkeeping and compactions are none."""
    conversation: list[Prompt | Response | Result | Compaction] = []
    """The records that are no bookkeeping."""
    event_names: set[str] = set()
    """Of the log's events."""
    replies: list[TimelineResponse | Event] = []
    """The responses, and before each the event that tells of the model's reply, if the log has one: some left no more."""
    repeated: frozenset[bytes | None] = frozenset()
    """The fingerprints that several of its calls have, and None where one has none. Known once their arguments are judged."""

    def calls_by_result(self) -> dict[int, TimelineCall]:
        """The turn's own calls by the id() of their answer."""
        return {id(call.result): call for call in self.calls if call.result is not None}

    def note_repeats(self) -> None:
        fingerprints = [call.fingerprint for call in self.calls]
        if len(set(fingerprints)) < len(fingerprints) or None in fingerprints:
            often = Counter(fingerprints)
            self.repeated = frozenset(fingerprint for fingerprint in often if fingerprint is None or often[fingerprint] > 1)

    def last_event(self, names: frozenset[str]) -> Event | None:
        """The log's last event that has one of the names."""
        if self.event_names.isdisjoint(names):
            return None
        return next((event for event in reversed(self.log_events) if event.name in names), None)

    @property
    def inherited(self) -> bool:
        """Copied from the session this one was forked from."""
        return self.records[0].forked_from is not None


def last_model(turn: Turn) -> str | None:
    """The model of its last response that names one."""
    for response in reversed(turn.responses):
        for record in response.records:
            if record.model:
                return record.model
    return None


def live_branch(records: Sequence[AnyRecord]) -> tuple[list[AnyRecord], list[AnyRecord]]:
    """The records on the live branch, and the others, both in the order of the file.

    A line that holds the answers to several calls makes several records of one uuid: they live together.
    """
    if _is_one_chain(records):
        return list(records), []
    place_of: dict[str | None, int] = {}
    for place, record in enumerate(records):
        place_of.setdefault(record.uuid, place)
    live: set[str | None] = {None}
    index = _before(records, len(records))
    while index is not None and records[index].uuid not in live:
        uuid, parent = records[index].uuid, records[index].parent_uuid
        live.add(uuid)
        if parent is None:
            break
        index = place_of[parent] if parent in place_of else _before(records, place_of[uuid])
    return [record for record in records if record.uuid in live], [record for record in records if record.uuid not in live]


def _is_one_chain(records: Sequence[AnyRecord]) -> bool:
    """Each record hangs on the one before it, so that the way back from the last one meets them all: nearly every log.

    A uuid that stands twice says nothing of which of the two is meant, so such a log is walked.
    """
    uuids = [record.uuid for record in records]
    parents = [record.parent_uuid for record in records]
    return uuids[:-1] == parents[1:] and None not in uuids and len(set(uuids)) == len(uuids)


def _before(records: Sequence[AnyRecord], index: int) -> int | None:
    """The record with a uuid that stands before this place."""
    return next((before for before in range(index - 1, -1, -1) if records[before].uuid is not None), None)


def build_turns(live: Sequence[AnyRecord]) -> list[Turn]:
    """Turns from the records of the live branch."""
    pairing = Pairing()
    return [_turn(no, records, pairing) for no, records in enumerate(_split_at_prompts(live), 1)]


def _split_at_prompts(live: Sequence[AnyRecord]) -> Iterator[Sequence[AnyRecord]]:
    """Bookkeeping before the first prompt belongs to no turn; calls before it are one of their own."""
    starts = [index for index, record in enumerate(live) if type(record) is Prompt and record.origin != "mid-turn"]
    before = live[: starts[0]] if starts else live
    first = next((index for index, record in enumerate(before) if isinstance(record, Response | Result)), None)
    if first is not None:
        yield before[first:]
    for start, end in pairwise([*starts, len(live)]):
        yield live[start:end]


def _turn(no: int, records: Sequence[AnyRecord], pairing: Pairing) -> Turn:
    first = records[0]
    turn = Turn(no, first if isinstance(first, Prompt) else None, records)
    for record in records:
        if isinstance(record, Event):
            turn.log_events.append(record)
            if record.name == "api_response":
                turn.replies.append(record)
            continue
        turn.conversation.append(record)
        if isinstance(record, Response):
            _add_response(turn, record, pairing)
            continue
        turn.items.append(record)
        if isinstance(record, Result):
            turn.results.append(record)
            turn.last_item = record
            if not pairing.pair(turn, record):
                turn.orphan_results.append(record)
    turn.event_names = {event.name for event in turn.log_events}
    return turn


def _add_response(turn: Turn, record: Response, pairing: Pairing) -> None:
    response = turn.responses[-1] if record.round_key is not None and turn.responses else None
    if response is None or response.records[-1].round_key != record.round_key:
        response = TimelineResponse(len(turn.responses) + 1, [record], [], record.has_text)
        turn.responses.append(response)
        turn.items.append(response)
        turn.replies.append(response)
        turn.last_item = response
    else:
        response.records.append(record)
        response.has_text = response.has_text or record.has_text
    if record.calls:
        calls = [
            TimelineCall(
                call,
                record,
                no,
                call.args_state,
                call.fingerprint if call.args_state == "whole" else None,
                history_id(call.recorded_id),
            )
            for no, call in enumerate(record.calls, len(response.calls) + 1)
        ]
        response.calls += calls
        turn.calls += calls
        pairing.add(turn, response, calls)
