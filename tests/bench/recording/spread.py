"""Median and range of what several rounds have measured."""

import statistics
from collections.abc import Iterable
from typing import NamedTuple


class Spread(NamedTuple):
    """Median, minimum and maximum of all rounds; NaN where nothing was measured."""

    median: float
    low: float
    high: float

    @classmethod
    def of(cls, values: Iterable[float]) -> "Spread":
        """Return the spread of one number per round."""
        found = list(values)
        return cls(statistics.median(found), min(found), max(found)) if found else cls(*[float("nan")] * 3)

    def text(self, digits: int = 2, unit: str = "") -> str:
        """Return the median and, of several rounds, the range."""
        median, low, high = (f"{value:,.{digits}f}{unit}" for value in self)
        return median if self.low == self.high else f"{median} ({low} to {high})"
