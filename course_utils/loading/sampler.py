"""Determine which images each batch of an epoch holds, for each of the processes that share the epoch.

All ranks share one order of the images per epoch. In each step they consume its next
`batch_size * world_size` images, of which each rank takes every `world_size`-th. So a position in an epoch is
a number of images that does not depend on how many ranks consumed them: another number of ranks can continue
there.
"""

import operator
from dataclasses import dataclass
from typing import SupportsIndex, TypedDict

import numpy as np


class OrderOptions(TypedDict, total=False):
    """Optional arguments of `EpochOrder`."""

    shuffle: bool
    seed: int
    drop_last: bool
    rank: int
    world_size: int


@dataclass(frozen=True)
class EpochOrder:
    """The order of the images in every epoch.

    Nothing is padded: over all ranks an epoch holds each image once. In the last step, a rank may have fewer
    images than another, or none and thus one batch less. Where every rank must take part in every step, as in
    the backward pass of `DistributedDataParallel`, use its `Join`, or `drop_last`.

    Args:
        images: Number of images.
        batch_size: Images per batch; the last one may have fewer.
        shuffle: Use another order in each epoch, drawn from `seed` and the epoch's number.
        seed: Seed of the sequence of orders.
        drop_last: Only steps in which every rank has a full batch; the rest of the epoch is left out.
        rank: Number of this process among `world_size`; each image belongs to one of them.
        world_size: Number of processes that share each epoch.

    Raises:
        ValueError: `batch_size`, `rank`, `world_size` or `seed` is out of range.
        TypeError: One of them is no integer, also of NumPy, or `shuffle` or `drop_last` no bool.
    """

    images: int
    batch_size: int
    shuffle: bool = False
    seed: int = 0
    drop_last: bool = False
    rank: int = 0
    world_size: int = 1

    def __post_init__(self) -> None:
        least = {"images": 0, "batch_size": 1, "seed": 0, "rank": 0, "world_size": 1}
        # JSON, and so a state, holds only Python's own numbers.
        plain = {name: integer(name, getattr(self, name), least[name]) for name in least}
        plain |= {name: _flag(name, getattr(self, name)) for name in ("shuffle", "drop_last")}
        for name, value in plain.items():
            object.__setattr__(self, name, value)
        if self.rank >= self.world_size:
            raise ValueError(f"rank={self.rank}: at least 0 and less than world_size={self.world_size}")

    def __len__(self) -> int:
        """Return the number of batches of this rank in a whole epoch."""
        left_out = self.per_step - 1 if self.drop_last else self.rank
        return len(range(left_out, self.images, self.per_step))

    @property
    def per_step(self) -> int:
        """Number of images that all ranks together consume in a step."""
        return self.batch_size * self.world_size

    def consumed_after(self, start: int, steps: int) -> int:
        """Return how many images of an epoch all ranks have consumed.

        Args:
            start: Images consumed before.
            steps: Number of steps since then.
        """
        return min(start + steps * self.per_step, self.images)

    def batches(self, epoch: int, start: int = 0) -> list[np.ndarray]:
        """Return the image numbers, int64, of each batch of this rank in an epoch.

        Args:
            epoch: Number of the epoch.
            start: Number of images that all ranks have consumed already.
        """
        order = np.arange(self.images)
        if self.shuffle:
            order = np.random.default_rng([self.seed, epoch]).permutation(order)
        end = self.images - (self.images - start) % self.per_step if self.drop_last else self.images
        mine = order[start + self.rank : end : self.world_size]
        return [mine[first : first + self.batch_size] for first in range(0, len(mine), self.batch_size)]


def integer(name: str, value: SupportsIndex, least: int) -> int:
    """Return an argument as an `int` of Python, also one of NumPy or PyTorch.

    Raises:
        TypeError: It is no integer.
        ValueError: It is less than `least`.
    """
    try:
        number = operator.index(value)
    except TypeError:
        number = None
    if number is None or isinstance(value, bool):
        raise TypeError(f"{name}={value!r}: it must be an integer, at least {least}")
    if number < least:
        raise ValueError(f"{name}={number}: at least {least}")
    return number


def _flag(name: str, value: object) -> bool:
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"{name}={value!r}: it must be True or False")
    return bool(value)
