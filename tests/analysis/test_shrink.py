from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from analysis.shrink import shrink


@given(st.sets(st.integers(0, 60), min_size=1, max_size=5), st.integers(61, 120))
def test_what_it_takes_is_left_and_nothing_else(needed: set[int], size: int) -> None:
    assert shrink(range(size), lambda left: needed <= set(left)) == sorted(needed)


@given(st.lists(st.integers(0, 3), min_size=1, max_size=30))
def test_no_single_element_can_be_taken_out(items: list[int]) -> None:
    total = sum(items)
    left = shrink(items, lambda part: sum(part) * 2 >= total)
    assert sum(left) * 2 >= total
    assert len(left) == 1 or all(sum(left[:i] + left[i + 1 :]) * 2 < total for i in range(len(left)))


def test_a_single_element_stays() -> None:
    assert shrink(["only"], lambda left: bool(left)) == ["only"]
