"""What a finding cost: calls, seconds and tokens that brought nothing.

A response is lost as a whole or not at all: its tokens and its time (from the record before it to its last answer) count where
all its calls are wasted. None stands for what the log does not tell, and for findings that are about no waste.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from analysis.detectors.base import Hit, TurnView
from analysis.timeline import TimelineResponse
from ingest.records import Result

_MICROSECONDS = 1_000_000


class Waste(Struct, frozen=True):
    calls: int | None = None
    seconds: float | None = None
    tokens: int | None = None


def waste(views: Sequence[TurnView], hit: Hit, claimed: set[int]) -> Waste:
    """Of the parts that no worse finding has claimed; claims them."""
    if not hit.wasted and not hit.wasted_replies:
        return Waste()
    calls = [call for call in hit.wasted if id(call) not in claimed]
    replies = [reply for reply in hit.wasted_replies if id(reply) not in claimed]
    claimed.update(map(id, (*calls, *replies)))
    lost_calls = {id(call.of_batch.call) for call in calls}
    touched = {id(call.batch.response): call.batch.response for call in calls}
    lost = {id(reply) for reply in replies} | {
        of for of, response in touched.items() if all(id(call) in lost_calls for call in response.calls)
    }
    responses = [(view, response) for view in views for response in view.state.turn.responses if id(response) in lost]
    spans = {of: span for view in views for of, span in _spans(view) if of in lost}
    seconds = [span for _, response in responses if (span := spans.get(id(response))) is not None]
    tokens = [count for _, response in responses if (count := _tokens(response)) is not None]
    return Waste(len(calls), round(sum(seconds), 3) if seconds else None, sum(tokens) if tokens else None)


def _spans(view: TurnView) -> Iterator[tuple[int, float]]:
    """Of each response, by its id(): the seconds from the record before it to its last record or answer.

    Bookkeeping does not count as the record before: the client writes one of its own just before each response.
    """
    before: int | None = None
    spans: dict[int, tuple[int, int]] = {}
    current: TimelineResponse | None = None
    for item in view.state.turn.items:
        if isinstance(item, TimelineResponse):
            current, ts = item, item.records[-1].ts
            if before is not None and ts is not None:
                spans[id(item)] = before, ts
        else:
            ts = item.ts
            if isinstance(item, Result) and current is not None and ts is not None and id(current) in spans:
                spans[id(current)] = spans[id(current)][0], ts
        before = ts if ts is not None else before
    for of, (begun, ended) in spans.items():
        yield of, max(0, ended - begun) / _MICROSECONDS


def _tokens(response: TimelineResponse) -> int | None:
    """Sent and received. What came from a cache is a part of what was sent."""
    sent = next((record.tokens_in for record in response.records if record.tokens_in is not None), None)
    received = next((record.tokens_out for record in response.records if record.tokens_out is not None), None)
    return None if sent is None and received is None else (sent or 0) + (received or 0)
