"""Delta debugging: the smallest part of a sequence that still shows something.

Zeller and Hildebrandt, "Simplifying and Isolating Failure-Inducing Input" (2002): take out ever smaller pieces as long as what
is left still shows it. The result is minimal in that no single element can be taken out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

_T = TypeVar("_T")


def shrink(items: Sequence[_T], still_shows: Callable[[list[_T]], bool]) -> list[_T]:
    """items: such that `still_shows` holds of them all."""
    left = list(items)
    pieces = 2
    while len(left) > 1:
        size = -(-len(left) // pieces)
        for start in range(0, len(left), size):
            without = left[:start] + left[start + size :]
            if without and still_shows(without):
                left, pieces = without, max(pieces - 1, 2)
                break
        else:
            if size == 1:
                break
            pieces = min(2 * pieces, len(left))
    return left
