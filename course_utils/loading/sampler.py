"""Determine which images each batch of an epoch holds, for each of the processes that share the epoch."""

import math
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


class SharedSettings(TypedDict):
    """Settings of an `EpochOrder` that are the same for all ranks."""

    images: int
    batch_size: int
    shuffle: bool
    seed: int
    drop_last: bool
    world_size: int


@dataclass(frozen=True)
class EpochOrder:
    """The order of the images in every epoch.

    Args:
        images: Number of images.
        batch_size: Images per batch; the last one may have fewer.
        shuffle: Use another order in each epoch, drawn from `seed` and the epoch's number.
        seed: Seed of the sequence of orders.
        drop_last: Only full batches, and the same number for every rank.
        rank: Number of this process among `world_size`; each image belongs to one of them.
        world_size: Number of processes that share each epoch.

    Raises:
        ValueError: `batch_size` or `rank` is out of range.
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

    def __len__(self) -> int:
        whole, rest = divmod(self.images, self.world_size)
        if self.drop_last:
            return whole // self.batch_size
        return math.ceil((whole + (self.rank < rest)) / self.batch_size)

    def batches(self, epoch: int, skip: int = 0) -> list[np.ndarray]:
        """Return the image numbers, int64, of each batch of this rank in an epoch.

        Args:
            epoch: Number of the epoch.
            skip: Number of batches to leave out at the start.
        """
        order = np.arange(self.images)
        if self.shuffle:
            order = np.random.default_rng([self.seed, epoch]).permutation(order)
        mine = order[self.rank :: self.world_size]
        return [mine[n * self.batch_size :][: self.batch_size] for n in range(skip, len(self))]

    def shared_settings(self) -> SharedSettings:
        """Return the settings that all ranks share, and that must be equal to resume an epoch."""
        return {
            "images": self.images,
            "batch_size": self.batch_size,
            "shuffle": self.shuffle,
            "seed": self.seed,
            "drop_last": self.drop_last,
            "world_size": self.world_size,
        }
