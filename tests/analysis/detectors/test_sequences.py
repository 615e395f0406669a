"""The searches against the plainest way of writing them down."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from analysis.detectors.sequences import longest_cycle, longest_dense, longest_run

keys = st.lists(st.sampled_from([None, "a", "b", "c"]), max_size=24)


def _stretches(length: int) -> list[tuple[int, int]]:
    return [(start, end) for start in range(length) for end in range(start + 1, length + 1)]


@given(keys)
def test_the_longest_run(sequence: list[str | None]) -> None:
    runs = [
        end - start
        for start, end in _stretches(len(sequence))
        if sequence[start] is not None and set(sequence[start:end]) == {sequence[start]}
    ]
    found = longest_run(sequence)
    assert found.length == max(runs, default=0)
    assert len(set(sequence[found.start : found.start + found.length])) <= 1


@given(keys, st.integers(2, 4), st.integers(2, 3))
@example(["b", "b", "b", "b", "a", "b", "a"], 2, 2)  # the longest stretch of the period is no cycle: it is one key
def test_the_longest_cycle_of_the_shortest_period(sequence: list[str | None], longest_period: int, rounds: int) -> None:
    def cycles(period: int) -> list[int]:
        return [
            end - start
            for start, end in _stretches(len(sequence))
            if end - start >= rounds * period
            and None not in sequence[start:end]
            and all(sequence[index] == sequence[index + period] for index in range(start, end - period))
            and len(set(sequence[start:end])) > 1
        ]

    by_period = {period: max(lengths) for period in range(2, longest_period + 1) if (lengths := cycles(period))}
    found = longest_cycle(sequence, longest_period, rounds)
    if found is None:
        assert not by_period
    else:
        assert (found.period, found.length) == (min(by_period), by_period[found.period])


@given(st.lists(st.booleans(), max_size=40), st.integers(1, 10))
def test_the_longest_dense_stretch(marks: list[bool], shortest: int) -> None:
    dense = [
        end - start
        for start, end in _stretches(len(marks))
        if end - start >= shortest and 4 * sum(marks[start:end]) >= 3 * (end - start)
    ]
    found = longest_dense(marks, 0.75, shortest)
    assert (found.length if found else 0) == max(dense, default=0)
    if found is not None:
        assert 4 * sum(marks[found.start : found.start + found.length]) >= 3 * found.length
