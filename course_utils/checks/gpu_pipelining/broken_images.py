"""Check a collate function that drops broken images, and a loop that reports how many."""

import multiprocessing
import warnings
from collections.abc import Callable, Iterable
from itertools import zip_longest
from typing import Any

import numpy as np
import torch
from torch.utils.data import DataLoader

from course_utils.checks.core import Inputs, Mistake, Truth
from course_utils.checks.gpu_pipelining._broken_files import (
    IMAGE_SHAPE,
    PartlyBroken,
    Recorder,
    Sample,
    ThereAndBack,
    World,
)
from course_utils.checks.gpu_pipelining._dropped_samples import (
    COUNT_MISTAKES,
    Case,
    EpochRecord,
    counts_differ,
    expect_epoch,
    shows_images_of,
)
from course_utils.checks.world.handle import Handle

Collate = Callable[..., Any]
GoodBatches = Callable[..., Iterable[Any]]

# What is wrong if an epoch is, although the same dataset was read correctly by itself before.
CONTEXT = {
    "again": (
        "keeps_state",
        "The first epoch over a loader is right, the second over the same loader is not. Each call of "
        "good_batches must start afresh: keep no {what} outside it.",
    ),
    "together": (
        "shares_state",
        "Each epoch is right by itself, but two that are read in turn disturb each other. Keep the {what} in "
        "a variable of each call of good_batches, not in a global one or on a class.",
    ),
    "worker": (
        "counts_in_the_worker",
        "Without a worker your counts are right, with one they are not. collate runs in the worker, and a "
        "variable that it changes there does not change in the main process. Return the count with the "
        "batch.",
    ),
}


def make(rng: np.random.Generator, workers: bool = True) -> tuple[Inputs, Truth]:
    """Draw three datasets: one with all kinds of batches, one that starts and ends broken, one all broken.

    The cases that the check must tell apart are always there: an intact batch, a first image that is broken,
    batches without a good image (in the middle, two in a row, at the start, at the end), one with a single
    good image, a short last batch, a black image, a label 0. The first two come backwards, too, as in a
    second epoch: what is wrong there by itself is no state that was kept. Without `workers` no loader gets
    one, and what only a worker shows is not found.
    """
    middle = int(rng.integers(4, 8))
    broken = rng.random(51) < 0.3
    broken[:4] = False
    broken[4:12] = True, False, False, False, True, True, False, True
    broken[4 * middle : 4 * middle + 4] = True
    broken[48:] = False, True, False
    ends = rng.random((12, 5)) < 0.3
    ends[:, 2] = False
    ends[[0, middle, middle + 1, 10, 11]] = True
    cases = [_case(rng, 4, broken), _case(rng, 5, ends.ravel()), _case(rng, 3, np.ones(5, dtype=bool))]
    if not all(counts_differ(case) for case in cases[:2]):
        return make(rng, workers)
    cases += [_backwards(case) for case in cases[:2]]
    sizes = [[len(case["labels"]), case["batch_size"]] for case in cases]
    worker = workers and can_fork()
    return {"sizes": sizes, "worker": worker}, {"cases": cases, "worker": worker}


def _case(rng: np.random.Generator, batch_size: int, broken: np.ndarray) -> Case:
    images = rng.integers(1, 256, (len(broken), *IMAGE_SHAPE), dtype=np.uint8)
    labels = rng.permutation(len(broken)) + 1
    if not broken.all():
        black, zero = rng.choice(np.flatnonzero(~broken), 2, replace=False)
        images[black], labels[zero] = 0, 0
    return {"images": images, "labels": labels, "broken": broken, "batch_size": batch_size}


def can_fork() -> bool:
    """Return whether the system can fork safely; with Apple's Metal it cannot."""
    return "fork" in multiprocessing.get_all_start_methods() and not torch.backends.mps.is_available()


def probe(inputs: Inputs, world: Handle, collate: Collate, good_batches: GoodBatches) -> None:
    """Run epochs over each dataset alone, with a worker where the system can fork, again, and two in turn."""
    datasets = [PartlyBroken(world, number, samples) for number, (samples, _) in enumerate(inputs["sizes"])]
    loaders = [
        _loader(data, size, collate) for data, (_, size) in zip(datasets, inputs["sizes"], strict=True)
    ]
    for loader in loaders:
        _epochs(world, [loader], good_batches)
    if inputs["worker"]:
        forked = _loader(
            datasets[0], inputs["sizes"][0][1], collate, num_workers=1, multiprocessing_context="fork"
        )
        with warnings.catch_warnings():
            # Python 3.12 warns when a process with threads forks.
            warnings.simplefilter("ignore", DeprecationWarning)
            _epochs(world, [forked], good_batches)
    _epochs(world, loaders[:1], good_batches)
    _epochs(world, loaders[:2], good_batches)


def _loader(
    dataset: PartlyBroken,
    batch_size: int,
    collate: Collate,
    **settings: Any,  # noqa: ANN401
) -> DataLoader[Sample]:
    sampler = ThereAndBack(len(dataset))
    return DataLoader(dataset, batch_size, sampler=sampler, collate_fn=collate, **settings)


def _epochs(world: Handle, loaders: list[DataLoader[Sample]], good_batches: GoodBatches) -> None:
    """Read one epoch of each loader, a batch of each in turn."""
    recorders = [Recorder(world, number) for number in range(len(loaders))]
    if len(loaders) == 1:
        recorders = [Recorder(world, loaders[0].dataset.number)]  # type: ignore[attr-defined]
    world.start([recorder.number for recorder in recorders])
    epochs = [
        map(recorder.take, good_batches(loader, recorder.report))
        for loader, recorder in zip(loaders, recorders, strict=True)
    ]
    for _ in zip_longest(*epochs):
        pass
    for recorder in recorders:
        recorder.finish()


def judge(truth: Truth, _: None, world: World) -> str:
    """Check every epoch: first each dataset by itself, then a worker, a second epoch, and two in turn."""
    first, _, _, first_backwards, second_backwards = cases = truth["cases"]
    epochs_alone = [world.runs[number][number] for number in range(len(cases))]
    for number, epoch in enumerate(epochs_alone):
        _expect_alone(cases, number, epoch)
    expected: list[tuple[str, dict[int, Case]]] = [("worker", {0: first})] if truth["worker"] else []
    expected += [("again", {0: first_backwards}), ("together", {0: first, 1: second_backwards})]
    for (where, by_number), epochs in zip(expected, world.runs[len(cases) :], strict=True):
        for number, case in by_number.items():
            try:
                expect_epoch(case, epochs[number], streaming=where != "worker")
            except Mistake as mistake:
                if where == "worker" and mistake.name not in COUNT_MISTAKES:
                    raise
                name, message = CONTEXT[where]
                raise Mistake(name, message.format(what=_what_differs(mistake))) from mistake
    return (
        "Every good image arrives once, in order and with its own label; no batch is empty; the number of "
        "dropped images is reported" + (", also when a worker collates." if truth["worker"] else ".")
    )


def _expect_alone(cases: list[Case], number: int, epoch: EpochRecord) -> None:
    """Check the first epoch over a dataset, which nothing of earlier ones may disturb."""
    try:
        expect_epoch(cases[number], epoch)
    except Mistake as mistake:
        earlier = cases[:number]
        so_far = sum(int(case["broken"].sum()) for case in cases[: number + 1])
        total = sum(count for count in epoch["reported"] if isinstance(count, int))
        counted = mistake.name in COUNT_MISTAKES and total == so_far
        if earlier and (counted or shows_images_of(epoch, earlier)):
            has = f"reports {total} broken images" if counted else "yields images"
            raise Mistake(
                "keeps_state",
                f"The first epoch is right, but one over another loader {has}, with those of earlier epochs. "
                f"Each call of good_batches must start afresh: keep no {_what_differs(mistake)} outside it.",
            ) from mistake
        raise


def _what_differs(mistake: Mistake) -> str:
    return "counter" if mistake.name in COUNT_MISTAKES else "batch"


def _backwards(case: Case) -> Case:
    images, labels, broken = (case[name][::-1].copy() for name in ("images", "labels", "broken"))
    return {"images": images, "labels": labels, "broken": broken, "batch_size": case["batch_size"]}
