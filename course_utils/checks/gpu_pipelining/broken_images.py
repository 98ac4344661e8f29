"""Check a collate function that drops broken images, and a loop that reports how many."""

import multiprocessing
import operator
import warnings
from collections.abc import Callable, Iterable, Iterator
from itertools import zip_longest
from typing import Any

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset, Sampler

from course_utils.checks.core import Evidence, Inputs, Mistake, Truth, type_name
from course_utils.checks.gpu_pipelining._dropped_samples import (
    COUNT_MISTAKES,
    Case,
    EpochRecord,
    counts_differ,
    expect_epoch,
)

IMAGE_SHAPE = (3, 6, 5)
Sample = tuple[torch.Tensor | None, int]
GoodBatches = Callable[..., Iterable[Any]]

# What is wrong if an epoch is, although the same dataset was read correctly by itself before.
CONTEXT = {
    "again": Mistake(
        "keeps_state",
        "The first epoch over a loader is right, the second over the same loader is not. Each call of "
        "good_batches must start afresh: keep no counter and no batch outside it.",
    ),
    "together": Mistake(
        "shares_state",
        "Each epoch is right by itself, but two that are read in turn disturb each other. Keep counts and "
        "batches in variables of each call of good_batches, not in global ones or on a class.",
    ),
    "worker": Mistake(
        "counts_in_the_worker",
        "Without a worker your counts are right, with one they are not. collate runs in the worker, and a "
        "variable that it changes there does not change in the main process. Return the count with the "
        "batch.",
    ),
}


class PartlyBroken(Dataset[Sample]):
    """Samples (image, label); the image of a broken file is None, but its label is known."""

    def __init__(self, case: Case) -> None:
        self.images = [torch.from_numpy(image.copy()) for image in case["images"]]
        self.labels, self.broken = case["labels"].tolist(), case["broken"].tolist()
        self.loaded = 0

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, index: int) -> Sample:
        self.loaded += 1
        return (None if self.broken[index] else self.images[index]), self.labels[index]


class ThereAndBack(Sampler[int]):
    """All indices in order in the first epoch, in reverse order in the second, and so on."""

    def __init__(self, samples: int) -> None:
        self.samples, self.epochs = samples, 0

    def __len__(self) -> int:
        return self.samples

    def __iter__(self) -> Iterator[int]:
        self.epochs += 1
        return iter(range(self.samples) if self.epochs % 2 else range(self.samples - 1, -1, -1))


def make(rng: np.random.Generator) -> tuple[Inputs, Truth]:
    """Draw three datasets: one with all kinds of batches, one that starts and ends broken, one all broken.

    The cases that the check must tell apart are always there: an intact batch, a first image that is broken,
    batches without a good image (in the middle, two in a row, at the start, at the end), a short last batch,
    a black image, a label 0.
    """
    middle = int(rng.integers(4, 8))
    broken = rng.random(51) < 0.3
    broken[:4] = False
    broken[4:8] = True, False, False, False
    broken[4 * middle : 4 * middle + 4] = True
    broken[48:] = False, True, False
    ends = rng.random((12, 5)) < 0.3
    ends[:, 2] = False
    ends[[0, middle, middle + 1, 10, 11]] = True
    cases = [_case(rng, 4, broken), _case(rng, 5, ends.ravel()), _case(rng, 3, np.ones(5, dtype=bool))]
    if not all(counts_differ(case) for case in cases[:2]):
        return make(rng)
    drawn = {"cases": cases, "worker": can_fork()}
    return drawn, drawn


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


def probe(inputs: Inputs, collate: Callable[..., Any], good_batches: GoodBatches) -> Evidence:
    """Run epochs over each dataset alone, with a worker where the system can fork, again, and two in turn."""
    datasets = [PartlyBroken(case) for case in inputs["cases"]]
    loaders = [
        _loader(d, case["batch_size"], collate) for d, case in zip(datasets, inputs["cases"], strict=True)
    ]
    found = {"alone": [_epochs([loader], good_batches)[0] for loader in loaders], "worker": []}
    if inputs["worker"]:
        size = inputs["cases"][0]["batch_size"]
        forked = _loader(datasets[0], size, collate, num_workers=1, multiprocessing_context="fork")
        with warnings.catch_warnings():
            # Python 3.12 warns when a process with threads forks.
            warnings.simplefilter("ignore", DeprecationWarning)
            found["worker"] = _epochs([forked], good_batches)
    found["again"] = _epochs(loaders[:1], good_batches)
    found["together"] = _epochs(loaders[:2], good_batches)
    return found


def _loader(
    dataset: PartlyBroken,
    batch_size: int,
    collate: Callable[..., Any],
    **settings: Any,  # noqa: ANN401
) -> DataLoader[Sample]:
    sampler = ThereAndBack(len(dataset))
    return DataLoader(dataset, batch_size, sampler=sampler, collate_fn=collate, **settings)


def _epochs(loaders: list[DataLoader[Sample]], good_batches: GoodBatches) -> list[EpochRecord]:
    """Read one epoch of each loader, a batch of each in turn."""
    recorders = [Recorder(loader.dataset) for loader in loaders]  # type: ignore[arg-type]
    epochs = [
        map(recorder.take, good_batches(loader, recorder.report))
        for loader, recorder in zip(loaders, recorders, strict=True)
    ]
    for _ in zip_longest(*epochs):
        pass
    return [recorder.finished() for recorder in recorders]


class Recorder:
    """Records the batches and the reports of one epoch."""

    def __init__(self, dataset: PartlyBroken) -> None:
        self.dataset = dataset
        self.record: EpochRecord = {"batches": [], "reported": [], "changed": False}
        self.received: list[tuple[np.ndarray, np.ndarray]] = []
        dataset.loaded = 0

    def report(self, count: Any) -> None:  # noqa: ANN401 - whatever the student reports
        """Record a reported count; of what is no whole number, its type."""
        try:
            self.record["reported"].append(operator.index(count))
        except TypeError:
            self.record["reported"].append(type_name(count))

    def take(self, batch: object) -> None:
        """Record a batch when it arrives; of what is no pair of tensors, its type."""
        parts = batch if isinstance(batch, tuple | list) else []
        arrays = [part.numpy(force=True) for part in parts if isinstance(part, torch.Tensor)]
        if len(parts) == len(arrays) == 2:
            images, labels = (array.copy() for array in arrays)
            self.received += zip(arrays, (images, labels), strict=True)
            loaded = self.dataset.loaded
            self.record["batches"].append({"images": images, "labels": labels, "loaded": loaded})
        else:
            kinds = f" of {', '.join(map(type_name, parts))}" if parts else ""
            self.record["batches"].append(type_name(batch) + kinds)

    def finished(self) -> EpochRecord:
        """Return the record, which says whether a batch changed after it had arrived."""
        self.record["changed"] = not all(np.array_equal(now, then) for now, then in self.received)
        return self.record


def judge(truth: Truth, found: Evidence) -> str:
    """Check every epoch: first each dataset by itself, then a worker, a second epoch, and two in turn."""
    cases = truth["cases"]
    for case, epoch in zip(cases, found["alone"], strict=True):
        expect_epoch(case, epoch)
    later = {
        "worker": cases[:1] if truth["worker"] else [],
        "again": [_backwards(cases[0])],
        "together": [cases[0], _backwards(cases[1])],
    }
    for where, read in later.items():
        for case, epoch in zip(read, found[where], strict=True):
            try:
                expect_epoch(case, epoch)
            except Mistake as mistake:
                if where == "worker" and mistake.name not in COUNT_MISTAKES:
                    raise
                raise CONTEXT[where] from mistake
    return (
        "Every good image arrives once, in order and with its own label; no batch is empty; the number of "
        "dropped images is reported" + (", also when a worker collates." if truth["worker"] else ".")
    )


def _backwards(case: Case) -> Case:
    images, labels, broken = (case[name][::-1] for name in ("images", "labels", "broken"))
    return {"images": images, "labels": labels, "broken": broken, "batch_size": case["batch_size"]}
