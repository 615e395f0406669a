"""A card that cannot be linked by its place in the order takes the nearest call in time that no card has yet."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from analysis.card_links import FreeCalls
from analysis.findings import CallRow

times = st.lists(st.one_of(st.none(), st.integers(0, 12)), max_size=12)


def _call(number: int, ts: int | None) -> CallRow:
    return CallRow(
        session_id="s",
        turn_no=1,
        response_no=1,
        call_no=number,
        tool="read_file",
        id_source="recorded",
        call_class="first-use",
        outcome="executed",
        args_json="{}",
        args_bytes=2,
        args_state="whole",
        part=number,
        source_path="log.jsonl",
        source_line=1,
        ts=ts,
    )


def test_the_nearest_is_taken_and_gone() -> None:
    free = FreeCalls([_call(1, 10), _call(2, 20), _call(3, 30)])
    taken = [free.take_nearest(ts) for ts in (21, 21, 21, 21)]
    assert [call and call.call_no for call in taken] == [2, 3, 1, None]


def test_of_two_as_near_the_first_of_the_log_is_taken() -> None:
    free = FreeCalls([_call(1, 30), _call(2, 10), _call(3, 10)])
    taken = [free.take_nearest(20) for _ in range(3)]
    assert [call and call.call_no for call in taken] == [1, 2, 3]


@given(times, st.lists(st.integers(0, 12), max_size=14))
def test_as_if_all_that_are_left_were_looked_at(calls: list[int | None], asked: list[int]) -> None:
    left = [_call(number, ts) for number, ts in enumerate(calls)]
    free = FreeCalls(left)
    for ts in asked:
        nearest = min(left, key=lambda call: abs((call.ts or 0) - ts), default=None)
        assert free.take_nearest(ts) is nearest
        left = [call for call in left if call is not nearest]
