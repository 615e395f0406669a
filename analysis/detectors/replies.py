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
    prompt_id = state.prompt_id
    for item in state.turn.items:
        if isinstance(item, TimelineResponse):
            announced = None
            yield Reply(item.records[0], not item.calls and not item.has_text, item)
        elif isinstance(item, Event) and item.name == "api_response" and item.prompt_id == prompt_id:
            if announced is not None:
                yield Reply(announced, True)
            announced = item
    if announced is not None:
        yield Reply(announced, True)


def count_empty(state: TurnState) -> int:
    """How many of them are empty, without making any: in nearly every turn none is."""
    count, is_announced = 0, False
    for item in state.turn.items:
        if isinstance(item, TimelineResponse):
            is_announced = False
            if not item.calls and not item.has_text:
                count += 1
        elif isinstance(item, Event) and item.name == "api_response" and item.prompt_id == state.prompt_id:
            count += is_announced
            is_announced = True
    return count + is_announced
