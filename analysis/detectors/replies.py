"""The model's replies of a turn, those that left no response among them.

0.24.4 writes the last of several empty replies down as `(empty content)` and 0.21 none at all; that the request was answered is
told each time by an api_response event, which stands before its response if there is one (recordings g3, g4).
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from analysis.timeline import TimelineResponse
from analysis.turn_state import TurnState
from ingest.records import Event, Response


class Reply(Struct, frozen=True, eq=False):
    told_by: Response | Event
    is_empty: bool
    """Neither text nor call."""
    response: TimelineResponse | None = None
    """None: the client wrote none down."""


def replies_of(state: TurnState) -> Iterator[Reply]:
    announced: Event | None = None
    responses = {id(response.records[0]): response for response in state.turn.responses}
    for record in state.turn.records:
        if isinstance(record, Response):
            if (response := responses.get(id(record))) is not None:
                announced = None
                yield Reply(record, not response.calls and not response.has_text, response)
        elif isinstance(record, Event) and record.name == "api_response" and record.prompt_id == state.prompt_id:
            if announced is not None:
                yield Reply(announced, True)
            announced = record
    if announced is not None:
        yield Reply(announced, True)


def count_empty(state: TurnState) -> int:
    """How many of them are empty. In nearly every turn none is, which is seen without making any."""
    responses = state.turn.responses
    if any(len(response.records) > 1 for response in responses):
        return sum(reply.is_empty for reply in replies_of(state))
    count = sum(not response.calls and not response.has_text for response in responses)
    if "api_response" not in state.turn.event_names:
        return count
    is_announced = False
    for record in state.turn.records:
        if isinstance(record, Event):
            if record.name == "api_response" and record.prompt_id == state.prompt_id:
                count += is_announced
                is_announced = True
        elif isinstance(record, Response):
            is_announced = False
    return count + is_announced
