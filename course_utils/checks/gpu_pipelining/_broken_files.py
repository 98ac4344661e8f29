"""Datasets with broken images, served by a world that takes the batches and counts of their epochs."""

import operator
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch.utils.data import Dataset, Sampler

from course_utils.checks.core import Truth, evidence, type_name
from course_utils.checks.gpu_pipelining._dropped_samples import BatchRecord, Case, EpochRecord
from course_utils.checks.world.handle import Handle
from course_utils.checks.world.state import BaseWorld, served

IMAGE_SHAPE = (3, 6, 5)
Sample = tuple[torch.Tensor | None, int]


class PartlyBroken(Dataset[Sample]):
    """Samples (image, label), read from the world; the image of a broken file is None."""

    def __init__(self, world: Handle, number: int, samples: int) -> None:
        self.world, self.number, self.samples = world, number, samples

    def __len__(self) -> int:
        return self.samples

    def __getitem__(self, index: int) -> Sample:
        data, label = self.world.item(self.number, index)
        image = None if data is None else torch.frombuffer(bytearray(data), dtype=torch.uint8)
        return (None if image is None else image.reshape(IMAGE_SHAPE)), label


class ThereAndBack(Sampler[int]):
    """All indices in order in the first epoch, in reverse order in the second, and so on."""

    def __init__(self, samples: int) -> None:
        self.samples, self.epochs = samples, 0

    def __len__(self) -> int:
        return self.samples

    def __iter__(self) -> Iterator[int]:
        self.epochs += 1
        return iter(range(self.samples) if self.epochs % 2 else range(self.samples - 1, -1, -1))


class World(BaseWorld):
    """The images and labels, and a record of what was read, yielded and reported in which order."""

    def __init__(self, truth: Truth) -> None:
        self.cases: list[Case] = truth["cases"]
        self.runs: list[dict[int, EpochRecord]] = []
        self._loaded = [0] * len(self.cases)
        self._arrived: list[list[bytes]] = [[] for _ in self.cases]

    @served
    def start(self, datasets: list[int]) -> None:
        """Start an epoch of each of these datasets."""
        self.runs.append({n: {"batches": [], "reported": [], "changed": False} for n in datasets})
        for number in datasets:
            self._loaded[number], self._arrived[number] = 0, []

    @served
    def item(self, dataset: int, index: int) -> tuple[bytes | None, int]:
        """Return the bytes of an image, or None if it is broken, and its label."""
        case = self.cases[dataset]
        self._loaded[dataset] += 1
        return None if case["broken"][index] else case["images"][index].tobytes(), int(case["labels"][index])

    @served
    def report(self, dataset: int, count: int | str) -> None:
        """Take a reported count; of what is no whole number, its type."""
        self.runs[-1][dataset]["reported"].append(count)

    @served
    def take_other(self, dataset: int, kind: str) -> None:
        """Take the type of what was yielded and is no pair of tensors."""
        self.runs[-1][dataset]["batches"].append(kind)

    @served
    def take(self, dataset: int, batch: bytes) -> None:
        """Take a batch, encoded as evidence."""
        images, labels = evidence.decode(batch, list[np.ndarray])
        record: BatchRecord = {"images": images, "labels": labels, "loaded": self._loaded[dataset]}
        self.runs[-1][dataset]["batches"].append(record)
        self._arrived[dataset].append(batch)

    @served
    def take_again(self, dataset: int, batch: bytes) -> None:
        """Take the batch before the one that has arrived last, as it is now."""
        self.runs[-1][dataset]["changed"] |= batch != self._arrived[dataset][-2]

    @served
    def finish(self, dataset: int, batches: list[bytes]) -> None:
        """Take all batches of an epoch once more, as they are at its end."""
        self.runs[-1][dataset]["changed"] |= batches != self._arrived[dataset]


class Recorder:
    """Passes the batches and the reports of one epoch to the world.

    Args:
        world: Keeps the record.
        number: Number of the dataset.
    """

    def __init__(self, world: Handle, number: int) -> None:
        self.world, self.number = world, number
        self.received: list[list[torch.Tensor]] = []

    def report(self, count: Any) -> None:  # noqa: ANN401 - whatever the student reports
        """Record a reported count; of what is no whole number, its type."""
        try:
            whole: int | str = operator.index(count)
        except TypeError:
            whole = type_name(count)
        self.world.report(self.number, whole)

    def take(self, batch: object) -> None:
        """Record a batch when it arrives, and how the one before is then; of no pair of tensors, its type."""
        parts = list(batch) if isinstance(batch, tuple | list) else []
        # A subclass could answer for its numbers.
        if len(parts) == 2 and all(type(part) is torch.Tensor for part in parts):
            self.world.take(self.number, _encoded(parts))
            if self.received:  # the loop may still use it
                self.world.take_again(self.number, _encoded(self.received[-1]))
            self.received.append(parts)
        else:
            kinds = f" of {', '.join(type(part).__name__ for part in parts)}" if parts else ""
            self.world.take_other(self.number, (type(batch).__name__ + kinds)[:200])

    def finish(self) -> None:
        """Show all batches once more, so that it is seen whether one has changed after it arrived."""
        self.world.finish(self.number, [_encoded(parts) for parts in self.received])


def _encoded(tensors: list[torch.Tensor]) -> bytes:
    return evidence.encode([tensor.numpy(force=True) for tensor in tensors])
