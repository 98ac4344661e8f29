"""Check that a loader's epochs are reproducible with any number of workers."""

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from course_utils.checks.core import Evidence, Inputs, Mistake, Truth
from course_utils.checks.input_pipeline._epochs import NOISE, ORDER, expect_fresh_samples, joined_samples
from course_utils.checks.input_pipeline._trainings import (
    FIRST,
    IN_TURNS,
    OTHER_SEED,
    REPEATED,
    RUNS,
    SALTED,
    WORKERS,
    ZERO,
    Found,
    World,
    run_trainings,
)
from course_utils.checks.world.handle import Handle


def make(rng: np.random.Generator, workers: bool = True) -> tuple[Inputs, Truth]:
    """Draw a batch size, a dataset length that it does not divide, and a seed.

    Without `workers` no loader gets any, and what only workers show is not found.
    """
    batch_size = int(rng.integers(3, 5))
    length = batch_size * int(rng.integers(6, 9)) + int(rng.integers(1, batch_size))
    inputs = {"length": length, "batch_size": batch_size, "seed": int(rng.integers(1, 2**20))}
    inputs |= {"workers": workers}
    return inputs, {**inputs, "key": rng.bytes(16)}


def probe(inputs: Inputs, world: Handle, make_loader: Callable[..., Any]) -> Found:
    """Run all trainings with loaders of the student."""
    return run_trainings(inputs, world, make_loader)


def judge(truth: Truth, evidence: Evidence, world: World) -> str:
    """Check batches, shuffling, and that order and noise depend only on seed, epoch and index."""
    if evidence["runs"] != len(world.runs) or any(
        len(run.epochs) != plan.epochs for run, plan in zip(world.runs, RUNS, strict=True)
    ):
        raise Mistake("no_evidence", "The check could not run all epochs of your loaders.")
    if other := [kind for kind in evidence["kinds"] if kind != "Tensor"]:
        raise Mistake(
            "no_stacked_batch",
            f"A batch is of type {other[0]}. For a dataset of tensors, DataLoader makes a batch of one "
            "tensor, which stacks the samples: let it do that, or use torch.stack.",
        )
    expect_fresh_samples(world)
    epochs = [[joined_samples(world, batches, truth) for batches in run.epochs] for run in world.runs]
    first = epochs[FIRST][0]
    if np.array_equal(first[:, ORDER], np.arange(truth["length"])):
        raise Mistake("not_shuffled", "The first epoch is in the dataset's own order: shuffle it.")
    _judge_reproducible(
        epochs, ORDER, what="order", advice="give the shuffling its own generator, seeded with your seed"
    )
    for one, two in itertools.combinations(epochs[FIRST], 2):
        if np.array_equal(one[:, ORDER], two[:, ORDER]):
            raise Mistake(
                "same_order_every_epoch",
                "Two epochs of one loader have the same order. Seed once, when the loader is created, or "
                "with seed and epoch together; not with the same number at the start of every epoch.",
            )
    _judge_noise(epochs)
    _judge_seeds(epochs)
    _judge_in_turns(epochs)
    if truth["workers"]:
        _judge_workers(world)
    _judge_training_draws(world)
    return "Each epoch is reproducible with 0, 1 and 2 workers, and no two epochs are alike."


def stable(truth: Truth, evidence: Evidence, world: World) -> list[np.ndarray]:
    """Return the epochs of a loader, which must be the same in each process."""
    return [joined_samples(world, batches, truth) for batches in world.runs[FIRST].epochs]


def _judge_noise(epochs: list[list[np.ndarray]]) -> None:
    for run in (FIRST, ZERO[0]):
        if len(np.unique(epochs[run][0][:, NOISE])) < len(epochs[run][0]):
            where = " with seed=0" if run != FIRST else ""
            raise Mistake(
                "same_noise_for_samples",
                f"Several samples of one epoch{where} got the same random numbers. Give each sample its own "
                "seed.",
            )
    _judge_reproducible(
        epochs,
        NOISE,
        what="random transform",
        advice="derive the seed of each sample's transform from seed, epoch and index",
    )
    for one, other in itertools.combinations(epochs[FIRST], 2):
        if set(one[:, NOISE]) & set(other[:, NOISE]):
            raise Mistake(
                "same_noise_every_epoch",
                "An epoch repeats random numbers of an earlier one. The seed of a sample must also depend on "
                "the epoch: otherwise the model sees the same crops again.",
            )


def _judge_seeds(epochs: list[list[np.ndarray]]) -> None:
    first, other = epochs[FIRST][0], epochs[OTHER_SEED][0]
    if np.array_equal(other[:, ORDER], first[:, ORDER]) or _same_noise(other, first):
        raise Mistake(
            "ignores_seed",
            "Another seed must give another order, and other random numbers for each sample.",
        )
    if _same_epochs(epochs[FIRST][1:2], epochs[OTHER_SEED]):
        raise Mistake(
            "seed_plus_epoch",
            "The second epoch with a seed is the first epoch with the next seed, as seed + epoch gives: two "
            "trainings with different seeds see nearly the same data. Seed a generator once, or take "
            "np.random.SeedSequence([seed, epoch]).",
        )
    if not _same_epochs(epochs[ZERO[0]], epochs[ZERO[1]]):
        raise Mistake(
            "seed_0_taken_for_none",
            "Two loaders with seed=0 differ, while two with another seed are the same. Code such as "
            "`if seed` takes 0 for a missing seed: ask `is None`.",
        )
    if not _same_epochs(epochs[FIRST], epochs[SALTED]):
        raise Mistake(
            "hash_of_text",
            "Your seeds depend on hash() of a text, for which each new Python process gives another number: "
            "the run cannot be repeated tomorrow. Take hash() of numbers only, or np.random.SeedSequence.",
        )


def _judge_in_turns(epochs: list[list[np.ndarray]]) -> None:
    for alone, in_turns in zip((FIRST, OTHER_SEED), IN_TURNS, strict=True):
        if not _same_epochs(epochs[alone], epochs[in_turns]):
            raise Mistake(
                "shared_between_loaders",
                "Two loaders that were used in turns, a batch of each, returned other epochs than each "
                "alone: they share a generator or a counter. Keep these on `self` or in local variables.",
            )


def _judge_reproducible(epochs: list[list[np.ndarray]], column: int, what: str, advice: str) -> None:
    for once, again in REPEATED:
        if not _same(epochs[once], epochs[again], column):
            raise Mistake(
                "order_not_reproducible" if column == ORDER else "noise_not_reproducible",
                f"Two loaders with the same seed and num_workers={RUNS[once].workers} differ in their "
                f"{what}: {advice}. Between batches, a training loop draws random numbers of its own; they "
                "must not matter.",
            )
    for alone, with_workers in WORKERS:
        if not _same(epochs[alone], epochs[with_workers], column):
            raise Mistake(
                "depends_on_workers",
                f"With num_workers={RUNS[with_workers].workers} the {what} differs from that with "
                "num_workers=0. A result must not depend on how many cores a machine has, or on which worker "
                f"loads a sample: {advice}.",
            )


def _same(run: list[np.ndarray], other: list[np.ndarray], column: int) -> bool:
    """Return whether one column is the same in all epochs that both runs have."""
    return all(np.array_equal(a[:, column], b[:, column]) for a, b in zip(run, other, strict=False))


def _same_epochs(run: list[np.ndarray], other: list[np.ndarray]) -> bool:
    return _same(run, other, ORDER) and _same(run, other, NOISE)


def _same_noise(run: np.ndarray, other: np.ndarray) -> bool:
    """Return whether some sample of the dataset got the same noise in both epochs."""
    one, two = (dict(epoch[:, [ORDER, NOISE]].tolist()) for epoch in (run, other))
    return any(one[index] == two[index] for index in one)


def _judge_workers(world: World) -> None:
    for plan, run in zip(RUNS, world.runs, strict=True):
        for epoch in run.epochs:
            processes = world.processes(epoch)
            if plan.workers and (run.process in processes or len(processes) < plan.workers):
                raise Mistake(
                    "ignores_num_workers",
                    f"With num_workers={plan.workers}, that many worker processes must load the samples. "
                    "Pass num_workers on to DataLoader.",
                )


def _judge_training_draws(world: World) -> None:
    for first, second in (*REPEATED, *WORKERS):
        draws = [world.runs[run].training_draws for run in (first, second)]
        if any(one == other for one, other in zip(*draws, strict=False)):
            raise Mistake(
                "seeds_the_training",
                f"With num_workers={RUNS[second].workers}, two training loops with different seeds of their "
                "own drew the same random numbers between batches: your loader leaves torch's global "
                "generator seeded. Restore its state after each sample; `torch.random.fork_rng` does so.",
            )
