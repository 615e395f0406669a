"""Guards that are tried over many sessions, one lane or several.

Programs of other people are waited for most of the time, so several sessions may be at it at once: each lane holds its own copy
of every guard. The order of the sessions is kept, so that two runs give the same rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from queue import SimpleQueue

from analysis.guards import Contender
from analysis.trial import Trial, try_guard
from ingest.records import SessionFacts

Lane = Sequence[Contender]


def run_trials(chunks: Iterable[Iterable[SessionFacts]], lanes: Sequence[Lane]) -> Iterator[Trial]:
    """chunks: sessions, as many as may be held in memory at once."""
    if len(lanes) == 1:
        for chunk in chunks:
            for facts in chunk:
                yield from (try_guard(facts, contender) for contender in lanes[0])
        return
    free: SimpleQueue[Lane] = SimpleQueue()
    for lane in lanes:
        free.put(lane)

    def try_all(facts: SessionFacts) -> list[Trial]:
        lane = free.get()
        try:
            return [try_guard(facts, contender) for contender in lane]
        finally:
            free.put(lane)

    with ThreadPoolExecutor(len(lanes)) as pool:
        for chunk in chunks:
            for trials in pool.map(try_all, chunk):
                yield from trials
