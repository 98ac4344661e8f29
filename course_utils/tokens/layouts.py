"""What an epoch computes when documents of many lengths become rectangles: padded, sorted or packed."""

from bisect import bisect_right
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Layout(NamedTuple):
    """How documents are laid out in batches.

    Args:
        name: What is done.
        computed: Tokens computed in an epoch, padding included.
        useful: Those of them that belong to documents.
    """

    name: str
    computed: int
    useful: int

    @property
    def share(self) -> float:
        """The useful share of the tokens computed, from 0 to 1."""
        return self.useful / self.computed


def padded(lengths: Sequence[int] | NDArray[np.int64], batch: int, seed: int = 0) -> Layout:
    """Draw documents at random, and pad each to the longest of its batch.

    Args:
        lengths: Tokens of each document.
        batch: Documents a batch.
        seed: Of the order.
    """
    order = np.random.default_rng(seed).permutation(np.asarray(lengths))
    return _rectangles("padded", order, batch)


def sorted_batches(lengths: Sequence[int] | NDArray[np.int64], batch: int) -> Layout:
    """Put documents of similar lengths into a batch, and pad each to the longest.

    Args:
        lengths: Tokens of each document.
        batch: Documents a batch.
    """
    return _rectangles("sorted", np.sort(np.asarray(lengths)), batch)


def _rectangles(name: str, lengths: NDArray[np.int64], batch: int) -> Layout:
    computed = 0
    for first in range(0, len(lengths), batch):
        rows = lengths[first : first + batch]
        computed += len(rows) * int(rows.max())
    return Layout(name, computed, int(lengths.sum()))


def packed(lengths: Sequence[int] | NDArray[np.int64], block: int) -> Layout:
    """Fill rows of `block` tokens with whole documents, the longest that still fits first.

    Args:
        lengths: Tokens of each document, none above `block`.
        block: Tokens a row.

    Raises:
        ValueError: A document is longer than a row.
    """
    lengths = np.asarray(lengths)
    if lengths.max(initial=0) > block:
        raise ValueError(
            f"a document has {lengths.max()} tokens, a row {block}: cut it, `np.minimum(lengths, block)`"
        )
    different, counts = np.unique(lengths, return_counts=True)
    left = dict(zip(different.tolist(), counts.tolist(), strict=True))
    open_lengths, rows = different.tolist(), 0
    while open_lengths:
        rows, room = rows + 1, block
        while place := bisect_right(open_lengths, room):
            length = open_lengths[place - 1]
            room -= length
            left[length] -= 1
            if not left[length]:
                del open_lengths[place - 1]
    return Layout("packed", rows * block, int(lengths.sum()))
