"""Result of a benchmark: epochs with their times and cache states, and their summary."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import median

import torch

from course_utils.storage import CacheState

__all__ = ["BenchmarkResult", "Epoch", "Summary"]


@dataclass(frozen=True)
class Epoch:
    """One pass over the data.

    Args:
        number: 0 for the first epoch of a loader, which also starts its workers.
        seconds: from the request for the first batch until the last one is on the device.
        first_batch_seconds: from the request for the first batch until its transfer to the device starts.
        images: samples delivered.
        nbytes: bytes of all tensors delivered.
        cache: the page cache just before the epoch; None if the files are unknown.
    """

    number: int
    seconds: float
    first_batch_seconds: float
    images: int
    nbytes: int
    cache: CacheState | None = None


@dataclass(frozen=True)
class Summary:
    """Median, smallest and largest of measured values, and their number."""

    median: float
    low: float
    high: float
    count: int

    @classmethod
    def of(cls, values: Sequence[float]) -> "Summary":
        """Summarise at least one value."""
        return cls(median(values), min(values), max(values), len(values))


@dataclass(frozen=True)
class BenchmarkResult:
    """Result of `course_utils.measure.benchmark`.

    The first epoch of a loader starts its workers and may find a cold cache, so first and later epochs never
    enter the same median: `typical` are the later ones if there are any, else the first ones.

    Args:
        label: name of what was measured, for tables.
        epochs: all measured epochs, repeat after repeat.
        cache_after: the page cache at the end; None if the files are unknown.
        device: where the batches were moved to.
        batch_size: samples per batch; None if a ready loader has no such attribute.
        num_workers: processes that loaded; None if a ready loader has no such attribute.
    """

    label: str
    epochs: tuple[Epoch, ...]
    cache_after: CacheState | None
    device: torch.device
    batch_size: int | None = None
    num_workers: int | None = None

    @property
    def typical(self) -> tuple[Epoch, ...]:
        """The epochs that the summaries describe."""
        return tuple(e for e in self.epochs if e.number > 0) or self.epochs

    @property
    def epoch_seconds(self) -> list[float]:
        """Seconds of every epoch, in the order they ran."""
        return [e.seconds for e in self.epochs]

    @property
    def first(self) -> Summary | None:
        """Seconds of the first epochs; None after a warm start."""
        seconds = [e.seconds for e in self.epochs if e.number == 0]
        return Summary.of(seconds) if seconds else None

    @property
    def seconds(self) -> Summary:
        """Seconds of a typical epoch."""
        return Summary.of([e.seconds for e in self.typical])

    @property
    def first_batch(self) -> Summary:
        """Seconds of a typical epoch until its first batch."""
        return Summary.of([e.first_batch_seconds for e in self.typical])

    @property
    def rate(self) -> Summary:
        """Images per second of a typical epoch, including the wait for its first batch."""
        return Summary.of([e.images / e.seconds for e in self.typical])

    @property
    def images_per_second(self) -> float:
        """The median of `rate`."""
        return self.rate.median

    @property
    def images(self) -> int:
        """Samples per epoch."""
        return self.epochs[-1].images

    @property
    def nbytes(self) -> int:
        """Bytes of the tensors delivered per epoch."""
        return self.epochs[-1].nbytes

    @property
    def cache_before(self) -> CacheState | None:
        """The page cache just before the first epoch in the result."""
        return self.epochs[0].cache

    def merge(self, other: "BenchmarkResult") -> "BenchmarkResult":
        """Append the epochs of a repeat of the same measurement."""
        return replace(self, epochs=self.epochs + other.epochs, cache_after=other.cache_after)

    def __repr__(self) -> str:
        kind = "later" if self.typical[0].number else "first"
        time, many = self.seconds, "s" * (self.seconds.count != 1)
        parts = [
            f"{self.label}: {self.images_per_second:.0f} images/s on {self.device}",
            f"{time.median:.3f} s per {kind} epoch ({time.low:.3f} to {time.high:.3f} s, "
            f"{time.count} epoch{many} of {self.images} images)",
            f"first batch after {self.first_batch.median:.3f} s",
        ]
        if self.cache_before and self.cache_after:
            parts.append(f"page cache {self.cache_before.short()} before, {self.cache_after.short()} after")
        return "; ".join(parts)
