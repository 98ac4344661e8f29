"""Which images each batch of an epoch holds, for each of the processes that share it."""

import math
from dataclasses import asdict, dataclass

import numpy as np


@dataclass(frozen=True)
class EpochOrder:
    """The order of the images in every epoch.

    Args:
        images: How many there are.
        batch_size: Images in a batch; the last one may have fewer.
        shuffle: Another order in each epoch, drawn from `seed` and the number of the epoch.
        seed: Number of the sequence of orders.
        drop_last: Whole batches only, and as many for every rank.
        rank: Number of this process among `world_size`; each image goes to one of them.
        world_size: Processes that share each epoch.
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
            raise ValueError("batch_size is at least 1, and rank is from 0 to world_size - 1")

    def __len__(self) -> int:
        whole, rest = divmod(self.images, self.world_size)
        if self.drop_last:
            return whole // self.batch_size
        return math.ceil((whole + (self.rank < rest)) / self.batch_size)

    def batches(self, epoch: int, given: int = 0) -> list[np.ndarray]:
        """Return the numbers of the images, int64, of each batch of an epoch but the first ones `given`."""
        order = np.arange(self.images)
        if self.shuffle:
            order = np.random.default_rng([self.seed, epoch]).permutation(order)
        mine = order[self.rank :: self.world_size]
        return [mine[n * self.batch_size :][: self.batch_size] for n in range(given, len(self))]

    def common(self) -> dict[str, int]:
        """Return what is the same for all ranks: what must be the same for an epoch to be gone on with."""
        return {name: value for name, value in asdict(self).items() if name != "rank"}
