"""Trainings with a loader, whose samples a world serves and whose batches it takes."""

import contextlib
import itertools
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypedDict

import numpy as np
import torch
from torch.utils.data import Dataset

from course_utils.checks.core import Inputs, Truth, salted_hash, type_name
from course_utils.checks.world.handle import Handle
from course_utils.checks.world.state import BaseWorld, Oracle, served
from course_utils.system import fork_by_default


class Found(TypedDict):
    """How many trainings were run, and the types of their batches."""

    runs: int
    kinds: list[str]


class Plan(NamedTuple):
    """One of the trainings for which a loader is made.

    Args:
        workers: The loader's `num_workers`.
        training_seed: Seed of the random numbers that the training loop draws.
        seed: Seed of the loader: the drawn one ("given"), its successor ("next") or 0 ("zero").
        epochs: Number of epochs.
        salted: Whether `hash` of a text gives another number, as in another process.
    """

    workers: int
    training_seed: int
    seed: str = "given"
    epochs: int = 2
    salted: bool = False


RUNS = [
    Plan(0, 1, epochs=3),
    Plan(0, 2, epochs=3),
    Plan(1, 3, epochs=1),  # workers take time to start, once for each epoch
    Plan(2, 4),
    Plan(2, 5, epochs=1),
    Plan(0, 6, "next"),
    Plan(0, 7, "zero"),
    Plan(0, 8, "zero"),
    Plan(0, 9, salted=True),
    # Two loaders of one program, whose batches come in turns.
    Plan(0, 10),
    Plan(0, 11, "next"),
]
FIRST, OTHER_SEED, ZERO, SALTED, IN_TURNS = 0, 5, (6, 7), 8, (9, 10)
# Two runs that must be the same, and two of which the second has workers.
REPEATED, WORKERS = ((0, 1), (3, 4)), ((0, 2), (0, 3))


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
        epochs: The tickets of all batches, epoch by epoch.
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
    def start_epoch(self, run: int) -> None:
        """Start an epoch of a loader."""
        self.runs[run].epochs.append([])

    @served
    def batch(self, run: int, tickets: list[float], training_draw: float) -> None:
        """Take a batch that has arrived, and what the training loop drew before it uses the batch."""
        self.runs[run].epochs[-1].append(tickets)
        self.runs[run].training_draws.append(training_draw)

    def processes(self, epoch: list[list[float]]) -> set[int]:
        """Return the processes that loaded the samples of an epoch."""
        return {self.samples[ticket].process for batch in epoch for ticket in batch}


def run_trainings(inputs: Inputs, world: Handle, make_loader: Callable[..., Any]) -> Found:
    """Run a training with each loader; the last two in turns."""
    kinds: set[str] = set()
    seeds = {"given": inputs["seed"], "next": inputs["seed"] + 1, "zero": 0}

    def training(run: int) -> Iterator[None]:
        plan, dataset = RUNS[run], NoisyNumbers(world, run, inputs["length"])
        loader = make_loader(
            dataset, inputs["batch_size"], seeds[plan.seed], plan.workers * inputs["workers"]
        )
        world.start_run()
        return _train(world, run, loader, kinds)

    with _restored_generators(), fork_by_default():
        for run in range(IN_TURNS[0]):
            with salted_hash("salt") if RUNS[run].salted else contextlib.nullcontext():
                _finish(training(run))
        both = [training(run) for run in IN_TURNS]
        _finish(itertools.zip_longest(*both))
    return {"runs": len(RUNS), "kinds": sorted(kinds)}


def _finish(steps: Iterator[object]) -> None:
    for _ in steps:
        pass


def _train(
    world: Handle,
    run: int,
    loader: Any,  # noqa: ANN401 - the student's loader
    kinds: set[str],
) -> Iterator[None]:
    """Train with the batches of a loader, and pause after each of them."""
    # A training loop draws random numbers too (dropout): neither may decide the other's.
    seed = RUNS[run].training_seed
    torch.manual_seed(seed)
    random.seed(seed)
    np.random.seed(seed)  # noqa: NPY002 - NumPy's global generator, too
    for _ in range(RUNS[run].epochs):
        world.start_epoch(run)
        for batch in loader:
            draw = torch.rand(seed, dtype=torch.float64)[0].item()
            is_batch = isinstance(batch, torch.Tensor) and batch.ndim == 2
            kinds.add("Tensor" if is_batch else type_name(batch))
            world.batch(run, batch[:, 1].tolist() if is_batch else [], draw)
            yield


@contextlib.contextmanager
def _restored_generators() -> Iterator[None]:
    python, numpy = random.getstate(), np.random.get_state()  # noqa: NPY002
    try:
        with torch.random.fork_rng(devices=[]):
            yield
    finally:
        random.setstate(python)
        np.random.set_state(numpy)  # noqa: NPY002
