"""Lesson 00: can a loader's epochs be had again, whatever the number of workers?"""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch.utils.data import Dataset

from course_utils.checks.core import Evidence, Inputs, Mistake, Truth
from course_utils.system import fork_by_default


class NoisyNumbers(Dataset[torch.Tensor]):
    """Sample i is ``[i, noise]``, its noise drawn from torch's global generator as a random transform does.

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


WORKERS = (0, 1, 2)
EPOCHS = 2


def make(rng: np.random.Generator) -> tuple[Inputs, Truth]:
    """Draw a dataset length, a batch size that does not divide it, and a seed."""
    batch_size = int(rng.integers(3, 5))
    # The last batch is always a smaller one.
    length = batch_size * int(rng.integers(6, 9)) + int(rng.integers(1, batch_size))
    inputs = {"length": length, "batch_size": batch_size, "seed": int(rng.integers(1, 2**20))}
    return inputs, dict(inputs)


def probe(inputs: Inputs, make_loader: Callable[..., Any]) -> Evidence:
    """Run two epochs of two loaders for each number of workers, and two with another seed."""
    dataset, size, seed = NoisyNumbers(inputs["length"]), inputs["batch_size"], inputs["seed"]
    with torch.random.fork_rng(devices=[]), fork_by_default():
        runs = {
            f"{workers} workers, time {time}": _run(
                make_loader(dataset, size, seed, workers), disturbance=7 * time + workers
            )
            for workers in WORKERS
            for time in (0, 1)
        }
        return {"runs": runs, "other_seed": _run(make_loader(dataset, size, seed + 1, 0), 3)}


def _run(loader: Any, disturbance: int) -> list[list[np.ndarray]]:  # noqa: ANN401 - the student's loader
    # A training loop draws random numbers too (dropout): they must not change the data.
    epochs = []
    torch.manual_seed(disturbance)
    for _ in range(EPOCHS):
        batches = []
        for batch in loader:
            torch.rand(disturbance + 1)
            batches.append(np.array(batch, np.float64))
        epochs.append(batches)
    return epochs


def judge(truth: Truth, found: Evidence) -> str:
    """Check batches, shuffling, and that order and noise depend on seed, epoch and index alone."""
    runs = {name: [_joined(batches, truth) for batches in epochs] for name, epochs in found["runs"].items()}
    first, second = runs["0 workers, time 0"]
    if np.array_equal(first[:, 0], np.arange(truth["length"])):
        raise Mistake("not_shuffled", "The first epoch comes in the dataset's own order: shuffle it.")
    _judge_reproducible(
        runs, column=0, what="order", do="give the shuffling a generator of its own with your seed"
    )
    if np.array_equal(first[:, 0], second[:, 0]):
        raise Mistake(
            "same_order_every_epoch",
            "Two epochs of one loader come in the same order. Seed once, when the loader is made, or with "
            "seed and "
            "epoch together; not with the same number at the start of every epoch.",
        )
    if len(np.unique(first[:, 1])) < truth["length"]:
        raise Mistake(
            "same_noise_for_samples",
            "Several samples of one epoch got the same random numbers. Give each its own seed.",
        )
    _judge_reproducible(
        runs, column=1, what="random transform", do="seed each sample's transform from seed, epoch and index"
    )
    if set(first[:, 1]) & set(second[:, 1]):
        raise Mistake(
            "same_noise_every_epoch",
            "The second epoch repeats random numbers of the first. The seed of a sample must depend on the "
            "epoch too: "
            "otherwise the model sees the same crops for ever.",
        )
    other = _joined(found["other_seed"][0], truth)
    if np.array_equal(other[:, 0], first[:, 0]) or set(other[:, 1]) & set(first[:, 1]):
        raise Mistake("ignores_seed", "Another seed must give another order and other random numbers.")
    return "each epoch is itself again with 0, 1 and 2 workers, and no two epochs are alike"


def _joined(batches: list[np.ndarray], truth: Truth) -> np.ndarray:
    size, n = truth["batch_size"], truth["length"]
    samples = np.concatenate(batches) if batches else np.zeros((0, 2))
    if sorted(samples[:, 0]) != list(range(n)):
        raise Mistake(
            "lost_samples",
            f"An epoch must show each of the {n} samples once; it showed {len(samples)}, "
            f"{len(np.unique(samples[:, 0]))} of them different. The last, smaller batch belongs to it.",
        )
    if [len(b) for b in batches[:-1]] != [size] * (len(batches) - 1) or len(batches) != -(-n // size):
        raise Mistake(
            "wrong_batches", f"Batches must have batch_size = {size} samples, only the last may be smaller."
        )
    return samples


def _judge_reproducible(runs: dict[str, list[np.ndarray]], column: int, what: str, do: str) -> None:
    for workers in WORKERS:
        once, again = runs[f"{workers} workers, time 0"], runs[f"{workers} workers, time 1"]
        if not _same(once, again, column):
            raise Mistake(
                f"{'order' if column == 0 else 'noise'}_not_reproducible",
                f"Two loaders with the same seed and num_workers={workers} differ in their {what}: {do}. "
                "Between the "
                "batches a training loop draws random numbers of its own; they must not matter.",
            )
    for workers in WORKERS[1:]:
        if not _same(runs["0 workers, time 0"], runs[f"{workers} workers, time 0"], column):
            raise Mistake(
                "depends_on_workers",
                f"With num_workers={workers} the {what} is not the one of num_workers=0. A result should "
                "not depend on "
                f"how many cores a machine has: {do}, not from the worker that happens to load it.",
            )


def _same(run: list[np.ndarray], other: list[np.ndarray], column: int) -> bool:
    return all(np.array_equal(a[:, column], b[:, column]) for a, b in zip(run, other, strict=True))
