"""Numbers of the command line."""

from __future__ import annotations

import math
from typing import Any

import click


class Number(click.FloatRange):
    """Between two bounds. `nan` is beyond neither, and a gate whose least coverage is `nan` would let everything pass."""

    def __init__(self, least: float, most: float) -> None:
        super().__init__(least, most)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        number: float = super().convert(value, param, ctx)
        if math.isnan(number):
            self.fail(f"{value} is no number", param, ctx)
        return number
