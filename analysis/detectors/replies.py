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
    for told in state.turn.replies:
        if isinstance(told, TimelineResponse):
            announced = None
            yield Reply(told.records[0], _is_empty(told), told)
        elif told.prompt_id == state.prompt_id:
            if announced is not None:
                yield Reply(announced, True)
            announced = told
    if announced is not None:
        yield Reply(announced, True)


def count_empty(state: TurnState) -> int:
    """How many of them are empty. In nearly every turn none is, which is seen without making any."""
    count, is_announced = 0, False
    for told in state.turn.replies:
        if isinstance(told, TimelineResponse):
            count += _is_empty(told)
            is_announced = False
        elif told.prompt_id == state.prompt_id:
            count += is_announced
            is_announced = True
    return count + is_announced


def _is_empty(response: TimelineResponse) -> bool:
    return not response.calls and not response.has_text
