"""The samples of each epoch, each of which must be loaded once and for its batch alone."""

import numpy as np

from course_utils.checks.core import Mistake, Truth
from course_utils.checks.input_pipeline._trainings import World

ORDER, NOISE = 0, 1  # the columns of a sample


def expect_fresh_samples(world: World) -> None:
    """Check that each sample of a batch was loaded from the dataset of its run, for this batch alone."""
    seen: set[float] = set()
    for number, run in enumerate(world.runs):
        tickets = [ticket for epoch in run.epochs for batch in epoch for ticket in batch]
        if any(ticket not in world.samples for ticket in tickets):
            raise Mistake(
                "other_samples",
                "A batch holds samples that the dataset never returned. Load each sample by dataset[i] and "
                "leave it as it is.",
            )
        if any(world.samples[ticket].run != number for ticket in tickets):
            raise Mistake(
                "other_dataset",
                "A loader returned samples of a dataset that another loader was made for. Keep the dataset "
                "on `self`, not on the class or in global variables.",
            )
        if len(set(tickets)) < len(tickets) or seen & set(tickets):
            raise Mistake(
                "repeats_loaded_samples",
                "Samples that were loaded once are returned again, in another batch or epoch. Load every "
                "sample in every epoch: do not keep them.",
            )
        seen.update(tickets)


def joined_samples(world: World, tickets: list[list[float]], truth: Truth) -> np.ndarray:
    """Return an epoch's samples in their order: an array of indices and noise."""
    size, n = truth["batch_size"], truth["length"]
    loaded = [world.samples[ticket] for batch in tickets for ticket in batch]
    samples = np.array([[sample.index, sample.noise] for sample in loaded]).reshape(-1, 2)
    if sorted(samples[:, ORDER]) != list(range(n)):
        different = len(np.unique(samples[:, ORDER]))
        hint = " Keep the last, smaller batch." if len(samples) == different == n - n % size else ""
        raise Mistake(
            "lost_samples",
            f"An epoch must return each of the {n} samples once; it returned {len(samples)}, of which "
            f"{different} differ.{hint}",
        )
    if [len(b) for b in tickets[:-1]] != [size] * (len(tickets) - 1) or len(tickets) != -(-n // size):
        raise Mistake(
            "wrong_batches",
            f"Each batch must have batch_size = {size} samples; only the last one may have fewer.",
        )
    return samples
