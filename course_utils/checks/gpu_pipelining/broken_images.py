"""Check a collate function that drops broken images, and a loop that reports how many."""

import multiprocessing
import warnings
from collections.abc import Callable, Iterable
from typing import Any, TypedDict

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset

from course_utils.checks.core import Evidence, Inputs, Mistake, Truth

BATCH_SIZE, BATCHES = 4, 7
Sample = tuple[torch.Tensor | None, int]


class PartlyBroken(Dataset[Sample]):
    """Samples (image, label); the image of a broken file is None, but its label is known."""

    def __init__(self, images: np.ndarray, labels: np.ndarray, broken: np.ndarray) -> None:
        self.images = [torch.from_numpy(image.copy()) for image in images]
        self.labels, self.broken = labels.tolist(), broken.tolist()
        self.loaded = 0

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, index: int) -> Sample:
        self.loaded += 1
        return (None if self.broken[index] else self.images[index]), self.labels[index]


class BatchRecord(TypedDict):
    """A batch as plain data; None stands for what is neither a tensor nor an array."""

    images: np.ndarray | None
    labels: np.ndarray | None


class EpochRecord(TypedDict):
    """The batches of one epoch, and the counts of broken images reported during it.

    `loaded` holds, for each batch, how many samples this process had loaded when it arrived.
    """

    batches: list[BatchRecord]
    reported: list[int]
    loaded: list[int]


def make(rng: np.random.Generator) -> tuple[Inputs, Truth]:
    """Draw images and labels: some batches are intact, some have broken images, two have no others."""
    samples = BATCHES * BATCH_SIZE - 1
    broken = rng.random(samples) < 0.3
    broken[:BATCH_SIZE] = False
    broken[BATCH_SIZE] = True
    middle = BATCH_SIZE * int(rng.integers(2, BATCHES - 2))
    broken[middle : middle + BATCH_SIZE] = True
    broken[(BATCHES - 1) * BATCH_SIZE :] = True
    drawn = {
        "images": rng.integers(0, 256, (samples, 3, 4, 4), dtype=np.uint8),
        "labels": rng.permutation(samples),
        "broken": broken,
        "worker": can_fork(),
    }
    return drawn, drawn


def can_fork() -> bool:
    """Return whether the system can fork safely; with Apple's Metal it cannot."""
    return "fork" in multiprocessing.get_all_start_methods() and not torch.backends.mps.is_available()


def probe(
    inputs: Inputs, collate: Callable[..., Any], good_batches: Callable[..., Iterable[Any]]
) -> Evidence:
    """Run one epoch in this process, and one in a worker where the system can fork safely."""
    dataset = PartlyBroken(inputs["images"], inputs["labels"], inputs["broken"])
    loaders = {"here": DataLoader(dataset, BATCH_SIZE, collate_fn=collate)}
    if inputs["worker"]:
        loaders["worker"] = DataLoader(
            dataset, BATCH_SIZE, collate_fn=collate, num_workers=1, multiprocessing_context="fork"
        )
    with warnings.catch_warnings():
        # Python 3.12 warns when a process with threads forks.
        warnings.simplefilter("ignore", DeprecationWarning)
        return {where: _epoch(loader, dataset, good_batches) for where, loader in loaders.items()}


def _epoch(
    loader: DataLoader[Sample], dataset: PartlyBroken, good_batches: Callable[..., Iterable[Any]]
) -> EpochRecord:
    reported: list[int] = []
    batches: list[BatchRecord] = []
    loaded: list[int] = []
    dataset.loaded = 0
    for images, labels in good_batches(loader, lambda count: reported.append(int(count))):
        loaded.append(dataset.loaded)
        batches.append({"images": _array(images), "labels": _array(labels)})
    return {"batches": batches, "reported": reported, "loaded": loaded}


def _array(value: object) -> np.ndarray | None:
    return np.asarray(value) if isinstance(value, torch.Tensor | np.ndarray) else None


def judge(truth: Truth, found: Evidence) -> str:
    """Check the batches of both epochs, and the reported counts."""
    good = ~truth["broken"]
    for epoch in (found["here"], found["worker"]) if truth["worker"] else (found["here"],):
        images, labels = _joined(epoch["batches"])
        _expect_samples(truth["images"][good], truth["labels"][good], images, labels)
        _expect_batch_count(len(epoch["batches"]), good)
    _expect_one_at_a_time(found["here"]["loaded"], len(good))
    _expect_counts(int(truth["broken"].sum()), found)
    return (
        "Every good image arrives once, in order and with its own label; no batch is empty; the number of "
        "dropped images is reported" + (", also when a worker collates." if truth["worker"] else ".")
    )


def _joined(batches: list[BatchRecord]) -> tuple[np.ndarray, np.ndarray]:
    if not batches:
        raise Mistake("no_batches", "good_batches(...) yielded no batch; yield (images, labels).")
    images = [batch["images"] for batch in batches if batch["images"] is not None]
    labels = [batch["labels"] for batch in batches if batch["labels"] is not None]
    if min(len(images), len(labels)) < len(batches):
        raise Mistake("not_tensors", "Yield (images, labels) as two tensors, for every batch.")
    if any(len(batch) == 0 for batch in images):
        raise Mistake(
            "empty_batch",
            "You yield an empty batch where all images are broken. The mean loss over no images is NaN and "
            "ruins the weights: skip such a batch.",
        )
    return np.concatenate(images), np.concatenate(labels)


def _expect_samples(
    true_images: np.ndarray, true_labels: np.ndarray, images: np.ndarray, labels: np.ndarray
) -> None:
    if len(images) != len(labels):
        raise Mistake(
            "loses_labels",
            f"{len(images)} images come with {len(labels)} labels. Drop a sample's image and label together.",
        )
    if len(images) < len(true_images):
        raise Mistake(
            "loses_good_images",
            f"Only {len(images)} of {len(true_images)} good images arrive. Drop only the broken ones.",
        )
    if images.shape != true_images.shape or not np.array_equal(images, true_images):
        raise Mistake(
            "other_images",
            f"The images are not the dataset's good ones in order: {len(images)} arrive, of shape "
            f"{list(images.shape[1:])}, instead of {len(true_images)} of shape "
            f"{list(true_images.shape[1:])}. Do not replace a broken image by another.",
        )
    if not np.array_equal(labels, true_labels):
        raise Mistake(
            "loses_labels",
            "Images come with the labels of other images. Drop a sample's image and label together.",
        )


def _expect_batch_count(batches: int, good: np.ndarray) -> None:
    whole = [good[i : i + BATCH_SIZE].any() for i in range(0, len(good), BATCH_SIZE)]
    if batches < sum(whole) / 2:
        raise Mistake(
            "holds_everything", "Yield one batch after another, not the whole epoch in a few large ones."
        )


def _expect_one_at_a_time(loaded: list[int], samples: int) -> None:
    if max(loaded[: len(loaded) // 2]) == samples:
        raise Mistake(
            "holds_everything",
            "The whole epoch is loaded before the training loop gets half of its batches. Yield each batch "
            "as soon as the loader delivers it: an epoch may not fit into memory.",
        )


def _expect_counts(broken: int, found: Evidence) -> None:
    sums = {where: sum(epoch["reported"]) for where, epoch in found.items()}
    if all(count == broken for count in sums.values()):
        return
    if sums["here"] == 0:
        raise Mistake(
            "drops_silently",
            f"{broken} images are broken, but none was reported. Call report(count) so that the counts add "
            "up to that number.",
        )
    if sums["here"] == broken:
        raise Mistake(
            "counts_in_the_worker",
            f"With a worker, you report {sums['worker']} of {broken} broken images. collate runs in the "
            "worker, and a variable that it changes there does not change in the main process. Return the "
            "count with the batch.",
        )
    raise Mistake(
        "wrong_count",
        f"You report {sums['here']} dropped images, but {broken} are broken. Count also the images of a "
        "batch that is dropped as a whole, even at the end of the epoch.",
    )
