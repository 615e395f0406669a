"""Repetition in a sequence of keys, one a response. A key of None is like no other."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import NamedTuple


class Stretch(NamedTuple):
    start: int
    length: int
    period: int = 1


def longest_run(keys: Sequence[Hashable | None]) -> Stretch:
    """The longest stretch of equal keys, the first of several; its length is 0 where there is no key."""
    best, start = Stretch(0, 0), 0
    for index, key in enumerate(keys):
        if key is None or index == 0 or key != keys[index - 1]:
            start = index
        if key is not None and index - start + 1 > best.length:
            best = Stretch(start, index - start + 1)
    return best


def longest_cycle(keys: Sequence[Hashable | None], longest_period: int, rounds: int) -> Stretch | None:
    """The longest stretch of the shortest period, of two or more different keys, that comes round so many times."""
    for period in range(2, longest_period + 1):
        best: Stretch | None = None
        start = 0
        for index in range(period, len(keys)):
            length = index - start + 1
            if keys[index] is None or keys[index] != keys[index - period]:
                start = index - period + 1
            elif length >= (best.length + 1 if best else rounds * period) and len(set(keys[start : start + period])) > 1:
                best = Stretch(start, length, period)
        if best is not None:
            return best
    return None


def longest_dense(marks: Sequence[bool], share: float, shortest: int) -> Stretch | None:
    """The longest stretch in which at least this share is marked."""
    balance = [0.0]
    for mark in marks:
        balance.append(balance[-1] + (1.0 if mark else 0.0) - share)
    lowest: list[int] = []
    for index, value in enumerate(balance):
        if not lowest or value < balance[lowest[-1]]:
            lowest.append(index)
    best: Stretch | None = None
    for end in range(len(balance) - 1, 0, -1):
        while lowest and balance[lowest[-1]] <= balance[end] + 1e-9:
            start = lowest.pop()
            if start < end and end - start >= max(shortest, best.length + 1 if best else 0):
                best = Stretch(start, end - start)
    return best
