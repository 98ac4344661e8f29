"""Merge ranges that lie near to each other: a request costs more than the bytes between them."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np


class Coalesced(NamedTuple):
    """Merged ranges.

    Args:
        ranges: int64 (merged, 2), offset and length of each, sorted.
        part: int64 (ranges,), the row there in which each of the given ranges lies.
    """

    ranges: np.ndarray
    part: np.ndarray


def coalesce(ranges: Sequence[tuple[int, int]] | np.ndarray, gap: int) -> Coalesced:
    """Merge the ranges between which at most `gap` bytes lie, or that overlap.

    Args:
        ranges: Offset and length of each, in any order.
        gap: What a request costs, in bytes.
    """
    table = np.asarray(ranges, np.int64).reshape(-1, 2)
    order = np.argsort(table[:, 0], kind="stable")
    starts, stops = table[order, 0], np.maximum.accumulate(table[order].sum(axis=1))
    begins, ends = np.ones(len(order), bool), np.ones(len(order), bool)
    begins[1:] = ends[:-1] = starts[1:] > stops[:-1] + gap
    part = np.empty(len(order), np.int64)
    part[order] = np.cumsum(begins) - 1
    return Coalesced(np.stack([starts[begins], stops[ends] - starts[begins]], axis=1), part)
