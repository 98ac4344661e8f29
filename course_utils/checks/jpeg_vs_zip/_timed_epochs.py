"""Images and a clock, served by a world: only reading takes time, and less where an image is cached."""

from dataclasses import dataclass, field
from pathlib import Path

import torch
from torch.utils.data import Dataset

from course_utils.checks.core import Truth
from course_utils.checks.world.handle import Handle
from course_utils.checks.world.state import BaseWorld, Oracle, served

# The clock of `benchmark`, which reads it at the start of an epoch, after its first batch and at its end.
CLOCK = "course_utils.measure.loader_benchmark.perf_counter"


class CountingDataset(Dataset[tuple[torch.Tensor, int]]):
    """Small images, each of which is read from the world.

    Args:
        world: Counts how often each one is read.
        number: Number of the dataset there.
        length: Number of images.
        path: The folder of its files, for their eviction from the page cache.
    """

    def __init__(self, world: Handle, number: int, length: int, path: Path) -> None:
        self.world, self.number, self.length, self.path = world, number, length, path

    def __len__(self) -> int:
        return self.length

    def __getitem__(self, index: int) -> tuple[torch.Tensor, int]:
        if not 0 <= index < self.length:
            raise IndexError(f"there are {self.length} images, and no number {index}")
        self.world.read(self.number, int(index))
        return torch.full((3, 16, 16), index, dtype=torch.uint8), index


@dataclass
class Timing:
    """An epoch as `benchmark` timed it.

    Attributes:
        cold: Whether the files were evicted since the epoch before.
        readings: What the clock showed at its start, after its first batch and at its end.
        reads: Which images were read before its end.
        first_reads: How many of them before the first batch was there.
        by_workers: Whether no image was read by the process that reads the clock.
        number: Number of the epoch among all that were timed.
    """

    cold: bool
    readings: list[float]
    reads: list[int] = field(default_factory=list)
    first_reads: int = 0
    by_workers: bool = True
    number: int = 0

    @property
    def ended(self) -> bool:
        """Whether its end was read from the clock."""
        return len(self.readings) > 2


class World(BaseWorld):
    """The images and the clock, on which reading takes longer where an image is not in the page cache.

    Attributes:
        measurements: The epochs that `benchmark` timed, for each call of the student's function.
        reads: How many images of the right dataset were read in each.
    """

    def __init__(self, truth: Truth) -> None:
        self._oracle = Oracle(truth["key"])
        self._now, self._evicted, self._process = 1000.0, False, 0
        self._cached: set[tuple[int, int]] = set()
        self.measurements: list[list[Timing]] = []
        self.reads: list[int] = []

    @served
    def start(self) -> None:
        """Start the measurement of the next dataset."""
        self._process = self.caller
        self.measurements.append([])
        self.reads.append(0)

    @served
    def read(self, dataset: int, index: int) -> None:
        """Read an image, which takes time on the clock."""
        milliseconds = 1 + self._oracle.number(2**20, self.calls) / 2**20
        self._now += milliseconds / 1e3 * (1 if (dataset, index) in self._cached else 8)
        self._cached.add((dataset, index))
        if dataset == len(self.measurements) - 1:
            self.reads[-1] += 1
            if self.measurements[-1] and not self.measurements[-1][-1].ended:
                self.measurements[-1][-1].reads.append(index)
                self.measurements[-1][-1].by_workers &= self.caller != self._process

    @served
    def clock(self) -> float:
        """Read the clock, in seconds; the first of three readings starts an epoch."""
        self._now += 1e-6
        timings = self.measurements[-1]
        if not timings or timings[-1].ended:
            timings.append(Timing(self._evicted, [], number=len(timings)))
            self._evicted = False
        timings[-1].readings.append(self._now)
        if len(timings[-1].readings) == 2:
            timings[-1].first_reads = len(timings[-1].reads)
        return self._now

    @served
    def evict(self) -> None:
        """Evict the files of all images from the page cache."""
        self._cached.clear()
        self._evicted = True
