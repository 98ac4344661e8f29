"""Count what an epoch loses and repeats when another number of ranks resumes it."""

from typing import Literal, NamedTuple

import numpy as np

from course_utils.loading import EpochOrder


class Resumed(NamedTuple):
    """What became of the samples of an epoch.

    Attributes:
        lost: Samples that no rank got.
        repeated: Deliveries of a sample after its first one.
    """

    lost: int
    repeated: int


def count_resumed(
    samples: int = 2001,
    batch_size: int = 4,
    steps: int = 100,
    ranks: tuple[int, int] = (2, 4),
    by: Literal["steps", "samples"] = "steps",
) -> Resumed:
    """Stop an epoch after some steps, resume it on another number of ranks, and count what was delivered.

    Args:
        samples: Number of samples.
        batch_size: Samples per rank and step.
        steps: Steps before the stop.
        ranks: Number of ranks before and after the stop.
        by: What the position counts: "steps", of which each new rank skips as many, or "samples" that all
            ranks have consumed.
    """
    before, after = (
        [EpochOrder(samples, batch_size, shuffle=True, rank=rank, world_size=size) for rank in range(size)]
        for size in ranks
    )
    batches = [batch for order in before for batch in order.batches(0)[:steps]]
    consumed = before[0].consumed_after(0, steps)
    for order in after:
        batches += order.batches(0, consumed) if by == "samples" else order.batches(0)[steps:]
    counts = np.bincount(np.concatenate([*batches, np.arange(0)]), minlength=samples)
    return Resumed(int((counts == 0).sum()), int((counts - 1).clip(0).sum()))
