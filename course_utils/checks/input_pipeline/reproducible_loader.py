"""Check that a loader's epochs are reproducible with any number of workers."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch.utils.data import Dataset

from course_utils.checks.core import Evidence, Inputs, Mistake, Truth
from course_utils.checks.world import BaseWorld, Handle, Oracle, served
from course_utils.system import fork_by_default

EPOCHS = 2
ORDER, NOISE = 0, 1  # the columns of a sample
WORKERS = (0, 1, 2)
# Two loaders for each number of workers, and one with another seed.
RUNS = [*((workers, time) for workers in WORKERS for time in (0, 1)), (0, 2)]
OTHER_SEED = len(RUNS) - 1


class NoisyNumbers(Dataset[torch.Tensor]):
    """Sample i is ``[i, ticket]``; the ticket stands for noise from torch's global generator.

    Args:
        world: Gives a ticket for each sample.
        run: Number of the run.
        length: Number of samples.
    """

    def __init__(self, world: Handle, run: int, length: int) -> None:
        self.world, self.run, self.length = world, run, length

    def __len__(self) -> int:
        return self.length

    def __getitem__(self, index: int) -> torch.Tensor:
        noise = torch.rand((), dtype=torch.float64).item()
        ticket = self.world.load(self.run, int(index), noise)
        return torch.tensor([index, ticket], dtype=torch.float64)


@dataclass(frozen=True)
class Sample:
    """A sample that was loaded: in which run, by which process, its index and its noise."""

    run: int
    process: int
    index: int
    noise: float


@dataclass
class Run:
    """Epochs of one loader, as a training loop saw them.

    Attributes:
        process: The process of the training loop.
        epochs: The tickets of all batches.
        training_draws: The random numbers that the training loop drew between the batches.
    """

    process: int
    epochs: list[list[list[float]]] = field(default_factory=list)
    training_draws: list[float] = field(default_factory=list)


class World(BaseWorld):
    """Gives each sample a ticket when it is loaded, and takes the tickets of the batches that arrive."""

    def __init__(self, truth: Truth) -> None:
        self._oracle = Oracle(truth["key"])
        self.samples: dict[float, Sample] = {}
        self.runs: list[Run] = []

    @served
    def load(self, run: int, index: int, noise: float) -> int:
        """Load a sample; return a ticket that no other sample has."""
        ticket = self._oracle.number(2**53, self.calls)  # a float64 can hold it
        self.samples[ticket] = Sample(run, self.caller, index, noise)
        return ticket

    @served
    def start_run(self) -> None:
        """Start with the next loader."""
        self.runs.append(Run(self.caller))

    @served
    def start_epoch(self) -> None:
        """Start an epoch of the loader."""
        self.runs[-1].epochs.append([])

    @served
    def batch(self, tickets: list[float], training_draw: float) -> None:
        """Take a batch that has arrived, and what the training loop drew before it uses the batch."""
        self.runs[-1].epochs[-1].append(tickets)
        self.runs[-1].training_draws.append(training_draw)

    def processes(self, epoch: list[list[float]]) -> set[int]:
        """Return the processes that loaded the samples of an epoch."""
        return {self.samples[ticket].process for batch in epoch for ticket in batch}


def make(rng: np.random.Generator) -> tuple[Inputs, Truth]:
    """Draw a batch size, a dataset length that it does not divide, and a seed."""
    batch_size = int(rng.integers(3, 5))
    length = batch_size * int(rng.integers(6, 9)) + int(rng.integers(1, batch_size))
    inputs = {"length": length, "batch_size": batch_size, "seed": int(rng.integers(1, 2**20))}
    return inputs, {**inputs, "key": rng.bytes(16)}


def probe(inputs: Inputs, world: Handle, make_loader: Callable[..., Any]) -> Evidence:
    """Run two epochs of two loaders for each number of workers, and of one loader with another seed."""
    size, seed = inputs["batch_size"], inputs["seed"]
    with torch.random.fork_rng(devices=[]), fork_by_default():
        for run, (workers, time) in enumerate(RUNS):
            dataset = NoisyNumbers(world, run, inputs["length"])
            loader = make_loader(dataset, size, seed + (run == OTHER_SEED), workers)
            world.start_run()
            _train(world, loader, training_seed=7 * time + workers)
    return {"runs": len(RUNS)}


def _train(world: Handle, loader: Any, training_seed: int) -> None:  # noqa: ANN401 - the student's loader
    # A training loop draws random numbers too (dropout): neither may decide the other's.
    torch.manual_seed(training_seed)
    for _ in range(EPOCHS):
        world.start_epoch()
        for batch in loader:
            draw = torch.rand(training_seed + 1, dtype=torch.float64)[0].item()
            world.batch(np.array(batch, np.float64)[:, 1].tolist(), draw)


def judge(truth: Truth, found: Evidence, world: World) -> str:
    """Check batches, shuffling, and that order and noise depend only on seed, epoch and index."""
    if found["runs"] != len(world.runs) or [len(run.epochs) for run in world.runs] != [EPOCHS] * len(RUNS):
        raise Mistake("no_evidence", "The check could not run all epochs of your loaders.")
    _expect_fresh_samples(world)
    epochs = [[_joined(world, batches, truth) for batches in run.epochs] for run in world.runs]
    runs = {f"{w} workers, time {time}": epochs[run] for run, (w, time) in enumerate(RUNS)}
    first, second = epochs[0]
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
    other = epochs[OTHER_SEED][0]
    if np.array_equal(other[:, ORDER], first[:, ORDER]) or _same_noise(other, first):
        raise Mistake(
            "ignores_seed",
            "Another seed must give another order, and other random numbers for each sample.",
        )
    _judge_workers(world)
    _judge_training_draws(world)
    return "Each epoch is reproducible with 0, 1 and 2 workers, and no two epochs are alike."


def _expect_fresh_samples(world: World) -> None:
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


def _joined(world: World, tickets: list[list[float]], truth: Truth) -> np.ndarray:
    """Return an epoch's samples in their order: an array of indices and noise."""
    size, n = truth["batch_size"], truth["length"]
    loaded = [world.samples[ticket] for batch in tickets for ticket in batch]
    samples = np.array([[sample.index, sample.noise] for sample in loaded]).reshape(-1, 2)
    if sorted(samples[:, ORDER]) != list(range(n)):
        raise Mistake(
            "lost_samples",
            f"An epoch must return each of the {n} samples once; it returned {len(samples)}, of which "
            f"{len(np.unique(samples[:, ORDER]))} differ. Keep the last, smaller batch.",
        )
    if [len(b) for b in tickets[:-1]] != [size] * (len(tickets) - 1) or len(tickets) != -(-n // size):
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


def _judge_workers(world: World) -> None:
    for (workers, _), run in zip(RUNS, world.runs, strict=True):
        for epoch in run.epochs:
            processes = world.processes(epoch)
            if workers and (run.process in processes or len(processes) < workers):
                raise Mistake(
                    "ignores_num_workers",
                    f"With num_workers={workers}, that many worker processes must load the samples. Pass "
                    "num_workers on to DataLoader.",
                )


def _judge_training_draws(world: World) -> None:
    for number, workers in enumerate(WORKERS):
        draws = [run.training_draws for run in world.runs[2 * number : 2 * number + 2]]
        if any(one == other for one, other in zip(*draws, strict=True)):
            raise Mistake(
                "seeds_the_training",
                f"With num_workers={workers}, two training loops with different seeds of their own drew the "
                "same random numbers between batches: your loader leaves torch's global generator seeded. "
                "Restore its state after each sample; `torch.random.fork_rng` does so.",
            )
