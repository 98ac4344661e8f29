"""Check that a loader's epochs are reproducible with any number of workers."""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch.utils.data import Dataset

from course_utils.checks.core import Evidence, Inputs, Mistake, Truth
from course_utils.system import fork_by_default

WORKERS = (0, 1, 2)
EPOCHS = 2
ORDER, NOISE = 0, 1  # the columns of a sample


class NoisyNumbers(Dataset[torch.Tensor]):
    """Sample i is ``[i, noise]``; the noise comes from torch's global generator, as in random transforms.

    Args:
        length: Number of samples.
    """

    def __init__(self, length: int) -> None:
        self.length = length

    def __len__(self) -> int:
        return self.length

    def __getitem__(self, index: int) -> torch.Tensor:
        noise = torch.rand((), dtype=torch.float64).item()
        return torch.tensor([index, noise], dtype=torch.float64)


def make(rng: np.random.Generator) -> tuple[Inputs, Truth]:
    """Draw a batch size, a dataset length that it does not divide, and a seed."""
    batch_size = int(rng.integers(3, 5))
    length = batch_size * int(rng.integers(6, 9)) + int(rng.integers(1, batch_size))
    inputs = {"length": length, "batch_size": batch_size, "seed": int(rng.integers(1, 2**20))}
    return inputs, dict(inputs)


def probe(inputs: Inputs, make_loader: Callable[..., Any]) -> Evidence:
    """Run two epochs of two loaders for each number of workers, and of one loader with another seed."""
    dataset, size, seed = NoisyNumbers(inputs["length"]), inputs["batch_size"], inputs["seed"]
    with torch.random.fork_rng(devices=[]), fork_by_default():
        runs = {
            f"{workers} workers, time {time}": _run(
                make_loader(dataset, size, seed, workers), training_seed=7 * time + workers
            )
            for workers in WORKERS
            for time in (0, 1)
        }
        return {"runs": runs, "other_seed": _run(make_loader(dataset, size, seed + 1, 0), 3)}


def _run(loader: Any, training_seed: int) -> Evidence:  # noqa: ANN401 - the student's loader
    # A training loop draws random numbers too (dropout): neither may decide the other's.
    epochs: list[list[np.ndarray]] = []
    training_draws: list[float] = []
    torch.manual_seed(training_seed)
    for _ in range(EPOCHS):
        batches = []
        for batch in loader:
            training_draws.append(torch.rand(training_seed + 1, dtype=torch.float64)[0].item())
            batches.append(np.array(batch, np.float64))
        epochs.append(batches)
    return {"epochs": epochs, "training_draws": training_draws}


def judge(truth: Truth, found: Evidence) -> str:
    """Check batches, shuffling, and that order and noise depend only on seed, epoch and index."""
    runs = {
        name: [_joined(batches, truth) for batches in run["epochs"]] for name, run in found["runs"].items()
    }
    first, second = runs["0 workers, time 0"]
    if np.array_equal(first[:, ORDER], np.arange(truth["length"])):
        raise Mistake("not_shuffled", "The first epoch is in the dataset's own order: shuffle it.")
    _judge_reproducible(
        runs, ORDER, what="order", advice="give the shuffling its own generator, seeded with your seed"
    )
    if np.array_equal(first[:, ORDER], second[:, ORDER]):
        raise Mistake(
            "same_order_every_epoch",
            "Two epochs of one loader have the same order. Seed once, when the loader is created, or with "
            "seed and epoch together; not with the same number at the start of every epoch.",
        )
    if len(np.unique(first[:, NOISE])) < truth["length"]:
        raise Mistake(
            "same_noise_for_samples",
            "Several samples of one epoch got the same random numbers. Give each sample its own seed.",
        )
    _judge_reproducible(
        runs,
        NOISE,
        what="random transform",
        advice="derive the seed of each sample's transform from seed, epoch and index",
    )
    if set(first[:, NOISE]) & set(second[:, NOISE]):
        raise Mistake(
            "same_noise_every_epoch",
            "The second epoch repeats random numbers of the first. The seed of a sample must also depend on "
            "the epoch: otherwise the model sees the same crops in every epoch.",
        )
    other = _joined(found["other_seed"]["epochs"][0], truth)
    if np.array_equal(other[:, ORDER], first[:, ORDER]) or _same_noise(other, first):
        raise Mistake(
            "ignores_seed",
            "Another seed must give another order, and other random numbers for each sample.",
        )
    _judge_training_draws(found["runs"])
    return "Each epoch is reproducible with 0, 1 and 2 workers, and no two epochs are alike."


def _joined(batches: list[np.ndarray], truth: Truth) -> np.ndarray:
    size, n = truth["batch_size"], truth["length"]
    samples = np.concatenate(batches) if batches else np.zeros((0, 2))
    if sorted(samples[:, ORDER]) != list(range(n)):
        raise Mistake(
            "lost_samples",
            f"An epoch must return each of the {n} samples once; it returned {len(samples)}, of which "
            f"{len(np.unique(samples[:, ORDER]))} differ. Keep the last, smaller batch.",
        )
    if [len(b) for b in batches[:-1]] != [size] * (len(batches) - 1) or len(batches) != -(-n // size):
        raise Mistake(
            "wrong_batches",
            f"Each batch must have batch_size = {size} samples; only the last one may have fewer.",
        )
    return samples


def _judge_reproducible(runs: dict[str, list[np.ndarray]], column: int, what: str, advice: str) -> None:
    for workers in WORKERS:
        once, again = runs[f"{workers} workers, time 0"], runs[f"{workers} workers, time 1"]
        if not _same(once, again, column):
            raise Mistake(
                "order_not_reproducible" if column == ORDER else "noise_not_reproducible",
                f"Two loaders with the same seed and num_workers={workers} differ in their {what}: {advice}. "
                "Between batches, a training loop draws random numbers of its own; they must not matter.",
            )
    for workers in WORKERS[1:]:
        if not _same(runs["0 workers, time 0"], runs[f"{workers} workers, time 0"], column):
            raise Mistake(
                "depends_on_workers",
                f"With num_workers={workers} the {what} differs from that with num_workers=0. A result must "
                "not depend on how many cores a machine has, or on which worker loads a sample: "
                f"{advice}.",
            )


def _same(run: list[np.ndarray], other: list[np.ndarray], column: int) -> bool:
    return all(np.array_equal(a[:, column], b[:, column]) for a, b in zip(run, other, strict=True))


def _same_noise(run: np.ndarray, other: np.ndarray) -> bool:
    """Return whether some sample of the dataset got the same noise in both epochs."""
    one, two = (dict(epoch[:, [ORDER, NOISE]].tolist()) for epoch in (run, other))
    return any(one[index] == two[index] for index in one)


def _judge_training_draws(runs: dict[str, Evidence]) -> None:
    for workers in WORKERS:
        draws = [runs[f"{workers} workers, time {time}"]["training_draws"] for time in (0, 1)]
        if any(one == other for one, other in zip(*draws, strict=True)):
            raise Mistake(
                "seeds_the_training",
                f"With num_workers={workers}, two training loops with different seeds of their own drew the "
                "same random numbers between batches: your loader leaves torch's global generator seeded. "
                "Restore its state after each sample; `torch.random.fork_rng` does so.",
            )
