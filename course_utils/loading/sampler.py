"""Determine which images each batch of an epoch holds, for each of the processes that share the epoch.

All ranks share one order of the images per epoch. In each step they consume its next
`batch_size * world_size` images, of which each rank takes every `world_size`-th. So a position in an epoch is
a number of images that does not depend on how many ranks consumed them: another number of ranks can continue
there.
"""

from dataclasses import dataclass
from typing import TypedDict

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
        ValueError: `batch_size`, `rank` or `seed` is out of range.
    """

    images: int
    batch_size: int
    shuffle: bool = False
    seed: int = 0
    drop_last: bool = False
    rank: int = 0
    world_size: int = 1

    def __post_init__(self) -> None:
        if self.batch_size < 1 or not 0 <= self.rank < self.world_size:
            raise ValueError("batch_size must be at least 1, and rank between 0 and world_size - 1")
        if self.seed < 0:
            raise ValueError(f"seed={self.seed}: at least 0")

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
