"""The check of a collate function that drops broken images, and of the loop that says how many."""

import multiprocessing
import warnings
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset

from course_utils.checks.core import Evidence, Inputs, Mistake, Truth

BATCH_SIZE, BATCHES = 4, 7


class SomeBroken(Dataset):
    """Samples (image, label); the image of a broken file is None, its label is known all the same."""

    def __init__(self, images: np.ndarray, labels: np.ndarray, broken: np.ndarray) -> None:
        self.images = [torch.from_numpy(image.copy()) for image in images]
        self.labels, self.broken = labels.tolist(), broken.tolist()

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, index: int) -> tuple[torch.Tensor | None, int]:
        return (None if self.broken[index] else self.images[index]), self.labels[index]


def make(rng: np.random.Generator) -> tuple[Inputs, Truth]:
    """Draw images and labels: some batches are whole, some have broken images, two have nothing else."""
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
    }
    return drawn, drawn


def probe(
    inputs: Inputs, collate: Callable[..., Any], good_batches: Callable[..., Iterable[Any]]
) -> Evidence:
    """Run an epoch in this process, and one in a worker where the system can fork one safely."""
    dataset = SomeBroken(**inputs)
    loaders = {"here": DataLoader(dataset, BATCH_SIZE, collate_fn=collate)}
    if "fork" in multiprocessing.get_all_start_methods() and not torch.backends.mps.is_available():
        loaders["worker"] = DataLoader(
            dataset, BATCH_SIZE, collate_fn=collate, num_workers=1, multiprocessing_context="fork"
        )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.12 warns of forks with threads around
        return {where: _epoch(loader, good_batches) for where, loader in loaders.items()}


def _epoch(loader: DataLoader, good_batches: Callable[..., Iterable[Any]]) -> dict:
    reported: list[int] = []
    batches = []
    for images, labels in good_batches(loader, lambda count: reported.append(int(count))):
        batches.append({"images": _array(images), "labels": _array(labels)})
    return {"batches": batches, "reported": reported}


def _array(value: object) -> np.ndarray | None:
    return np.asarray(value) if isinstance(value, torch.Tensor | np.ndarray) else None


def judge(truth: Truth, found: Evidence) -> str:
    """Judge what came out of both epochs."""
    good = ~truth["broken"]
    for epoch in (found["here"], found["worker"]):
        _whole_batches(epoch["batches"])
        images = np.concatenate([batch["images"] for batch in epoch["batches"]])
        labels = np.concatenate([batch["labels"] for batch in epoch["batches"]])
        _right_samples(truth["images"][good], truth["labels"][good], images, labels)
        _batched(len(epoch["batches"]), good)
    _reported(int(truth["broken"].sum()), found)
    return (
        "Every good image comes once, in order and with its own label; no batch is empty; the number of "
        "dropped images is reported, also when a worker collates."
    )


def _whole_batches(batches: list[dict]) -> None:
    if not batches:
        raise Mistake("no_batches", "good_batches(...) gave no batch at all; yield (images, labels).")
    if any(batch["images"] is None or batch["labels"] is None for batch in batches):
        raise Mistake("not_tensors", "Yield (images, labels) as two tensors, for every batch.")
    if any(len(batch["images"]) == 0 for batch in batches):
        raise Mistake(
            "empty_batch",
            "One batch holds only broken images, and you yield an empty one. A mean over no images is nan "
            "and ruins the weights: skip such a batch.",
        )


def _right_samples(
    true_images: np.ndarray, true_labels: np.ndarray, images: np.ndarray, labels: np.ndarray
) -> None:
    if len(images) != len(labels):
        raise Mistake(
            "loses_labels",
            f"{len(images)} images come with {len(labels)} labels. Drop image and label of a sample "
            "together.",
        )
    if len(images) < len(true_images):
        raise Mistake(
            "loses_good_images",
            f"Of {len(true_images)} good images {len(images)} arrive. Drop the broken ones only.",
        )
    if images.shape != true_images.shape or not np.array_equal(images, true_images):
        raise Mistake(
            "other_images",
            f"The images are not the good ones of the dataset in their order: {len(images)} arrive, of shape "
            f"{list(images.shape[1:])}, for {len(true_images)} of shape {list(true_images.shape[1:])}. "
            "Nothing may stand in for a broken image.",
        )
    if not np.array_equal(labels, true_labels):
        raise Mistake(
            "loses_labels",
            "The images have the labels of other images. Keep image and label of a sample together when you "
            "drop.",
        )


def _batched(batches: int, good: np.ndarray) -> None:
    whole = [good[i : i + BATCH_SIZE].any() for i in range(0, len(good), BATCH_SIZE)]
    if batches < sum(whole) / 2:
        raise Mistake("holds_everything", "Yield batch after batch, not the whole epoch in a few large ones.")


def _reported(broken: int, found: Evidence) -> None:
    sums = {where: sum(epoch["reported"]) for where, epoch in found.items()}
    if all(count == broken for count in sums.values()):
        return
    if sums["here"] == 0:
        raise Mistake(
            "drops_silently",
            f"{broken} images are broken and nobody is told. Call report(count) so that the counts add up "
            "to them.",
        )
    if sums["here"] == broken:
        raise Mistake(
            "counts_in_the_worker",
            f"With a worker you report {sums['worker']} of {broken} broken images. collate runs in the "
            "worker: a variable that it changes there stays there. Return the count with the batch.",
        )
    raise Mistake(
        "wrong_count",
        f"You report {sums['here']} dropped images; {broken} are broken. Count those of a batch that is "
        "dropped as a whole too, also at the end of the epoch.",
    )
