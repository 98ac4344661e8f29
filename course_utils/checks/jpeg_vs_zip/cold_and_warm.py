"""Check a measurement that reports the first epoch separately from the later ones."""

from collections.abc import Callable
from dataclasses import dataclass, field
from math import isclose
from pathlib import Path
from statistics import fmean, median
from typing import Any, TypedDict
from unittest import mock

import numpy as np
import torch
from torch.utils.data import Dataset

from course_utils.checks.core import (
    AttemptOf,
    Evidence,
    Inputs,
    Mistake,
    Truth,
    attempt,
    folder_with,
    type_name,
    value_of,
)
from course_utils.checks.world import BaseWorld, Handle, Oracle, served
from course_utils.storage import page_cache
from course_utils.system import fork_by_default

MIN_EPOCHS = 3
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
        reads: Which images were read.
        first_reads: How many of them before the first batch was there.
        by_workers: Whether no image was read by the process that reads the clock.
    """

    cold: bool
    readings: list[float]
    reads: list[int] = field(default_factory=list)
    first_reads: int = 0
    by_workers: bool = True


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
            if self.measurements[-1]:
                self.measurements[-1][-1].reads.append(index)
                self.measurements[-1][-1].by_workers &= self.caller != self._process

    @served
    def clock(self) -> float:
        """Read the clock, in seconds; the first of three readings starts an epoch."""
        self._now += 1e-6
        timings = self.measurements[-1]
        if not timings or len(timings[-1].readings) > 2:
            timings.append(Timing(self._evicted, []))
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


def timing_of(epoch: "EpochRecord", timings: list[Timing]) -> Timing | None:
    """Return the timing with the seconds of an epoch in a result."""
    for timing in timings:
        if len(timing.readings) > 2:
            start, first, end = timing.readings
            if isclose(epoch["seconds"], end - start) and isclose(epoch["first"], first - start):
                return timing
    return None


class EpochRecord(TypedDict):
    """One epoch of a benchmark's result: `seconds` of it were waited for the `first` batch."""

    number: int
    seconds: float
    first: float
    images: int


class Measured(TypedDict, total=False):
    """What the student's function returned: the benchmark's result, and two rates in images/s.

    Of a rate that is no number, it holds the name of its type; of what is not three values, only `returned`.
    """

    returned: str
    epochs: list[EpochRecord]
    batch_size: int | None
    num_workers: int | None
    cold: float | str
    warm: float | str


def make(rng: np.random.Generator) -> tuple[Inputs, Truth]:
    """Draw two datasets and the settings of their measurements: the last batch is short, one has a worker."""
    sizes = rng.choice(range(3, 9), 2, replace=False).tolist()
    settings = [
        {
            "images": size * int(rng.integers(4, 7)) + int(rng.integers(1, size)),
            "batch_size": size,
            "num_workers": workers,
        }
        for workers, size in enumerate(sizes)
    ]
    return {"settings": settings}, {"settings": settings, "key": rng.bytes(16)}


def probe(inputs: Inputs, world: Handle, measure: Callable[..., Any]) -> list[AttemptOf[Measured]]:
    """Let the student's code measure two datasets on a clock that only reading advances."""

    def evict(paths: page_cache.PathLike) -> page_cache.CacheState:
        world.evict()
        return page_cache.CacheState(0, 0)

    def measured(number: int, images: int, batch_size: int, num_workers: int) -> AttemptOf[Measured]:
        world.start()
        dataset = CountingDataset(world, number, images, folder)
        result: AttemptOf[Measured] = attempt(lambda: _plain(measure(dataset, batch_size, num_workers)))
        return result

    replaced = mock.patch.object(page_cache, "evict", evict), mock.patch(CLOCK, world.clock)
    with folder_with({"images.bin": b"."}) as folder, fork_by_default(), replaced[0], replaced[1]:
        return [measured(number, **settings) for number, settings in enumerate(inputs["settings"])]


def _plain(returned: Any) -> Measured:  # noqa: ANN401 - the student's result
    if not isinstance(returned, tuple | list) or len(returned) != 3:
        return {"returned": f"{type(returned).__name__} {returned!r}"[:200]}
    result, cold, warm = returned
    epochs: list[EpochRecord] = [
        {"number": e.number, "seconds": e.seconds, "first": e.first_batch_seconds, "images": e.images}
        for e in getattr(result, "epochs", ())
    ]
    return {
        "epochs": epochs,
        "batch_size": getattr(result, "batch_size", None),
        "num_workers": getattr(result, "num_workers", None),
        "cold": _number(cold),
        "warm": _number(warm),
    }


def _number(rate: Any) -> float | str:  # noqa: ANN401 - the student's rate
    if isinstance(rate, torch.Tensor | np.ndarray) and rate.ndim == 0:
        rate = rate.item()
    is_number = isinstance(rate, int | float | np.number) and not isinstance(rate, bool)
    return float(rate) if is_number else type_name(rate)


def judge(truth: Truth, found: Evidence, world: World) -> str:
    """Check which images were read, and that both rates follow from the measured epochs."""
    for number, (settings, measured) in enumerate(zip(truth["settings"], found, strict=True)):
        _judge_measurement(settings, value_of(measured), world.measurements[number], world.reads[number])
    return (
        "Every epoch read all images; the cold rate is that of the first epoch, the warm rate that of the "
        "later ones."
    )


def _judge_measurement(
    settings: dict[str, int],
    measured: Any,  # noqa: ANN401 - checked here
    timed: list[Timing],
    reads: int,
) -> None:
    if "returned" in measured:
        raise Mistake(
            "not_three_values",
            f"Return three values, as in `return result, cold, warm`; you returned: {measured['returned']}.",
        )
    epochs = measured["epochs"]
    if not epochs:
        raise Mistake("no_result", "The first value that you return should be the result of benchmark(...).")
    if not reads:
        message = "Nothing was read from the dataset that your function was given: measure that dataset."
        raise Mistake("other_dataset", message)
    timings = _expect_all_read(settings["images"], epochs, timed)
    _expect_settings(settings, measured, timings)
    if epochs[0]["number"] != 0:
        raise Mistake(
            "cold_thrown_away",
            "The first epoch in the result is not the first that ran: warm_start=True leaves it out.",
        )
    if not all(timing.cold for timing, e in zip(timings, epochs, strict=True) if e["number"] == 0):
        raise Mistake(
            "no_cold_start",
            "The files may have been in the page cache before the first epoch: pass cold_start=True.",
        )
    if len(epochs) < MIN_EPOCHS or not _later(epochs):
        raise Mistake(
            "too_few_epochs",
            f"The result has {len(epochs)} of at least {MIN_EPOCHS} epochs: measure one cold epoch and "
            "two warm ones.",
        )
    _expect_cold_rate(measured["cold"], epochs, settings["batch_size"])
    _expect_warm_rate(measured["warm"], epochs, settings["batch_size"])


def _expect_all_read(images: int, epochs: list[EpochRecord], timed: list[Timing]) -> list[Timing]:
    """Return how `benchmark` timed each epoch; all images must have been read in it."""
    timings = [timing for epoch in epochs if (timing := timing_of(epoch, timed)) is not None]
    if len(timings) < len(epochs) or len({id(timing) for timing in timings}) < len(epochs):
        raise Mistake(
            "not_from_benchmark",
            "The epochs in your result are not those that `benchmark` measured. Return its result as it is.",
        )
    for epoch, timing in zip(epochs, timings, strict=True):
        if epoch["images"] != images or sorted(timing.reads) != list(range(images)):
            raise Mistake(
                "not_all_images",
                f"The dataset has {images} images, but an epoch of your result read "
                f"{len(set(timing.reads))} of them and counts {epoch['images']}. Measure all images.",
            )
    return timings


def _expect_settings(settings: dict[str, int], measured: Measured, timings: list[Timing]) -> None:
    for name, used in (("batch_size", measured["batch_size"]), ("num_workers", measured["num_workers"])):
        if used != settings[name]:
            raise Mistake(
                "other_settings",
                f"Your function was called with {name}={settings[name]}, but it measured with {used}. Pass "
                "your arguments on to benchmark.",
            )
    if not settings["num_workers"] and any(t.first_reads != settings["batch_size"] for t in timings):
        raise Mistake(
            "other_settings",
            f"Your function was called with batch_size={settings['batch_size']}, but the first batch of an "
            f"epoch had {timings[0].first_reads} images. Pass your arguments on to benchmark.",
        )
    if settings["num_workers"] and not all(timing.by_workers for timing in timings):
        raise Mistake(
            "other_settings",
            f"Your function was called with num_workers={settings['num_workers']}, but no worker read the "
            "images. Pass your arguments on to benchmark.",
        )


def _later(epochs: list[EpochRecord]) -> list[EpochRecord]:
    """Return the warm epochs; with ``repeats`` each repeat has a first epoch of its own."""
    return [epoch for epoch in epochs if epoch["number"] > 0]


def _expect_number(rate: float | str) -> float:
    if isinstance(rate, str):
        raise Mistake("rate_no_number", f"A rate that you return is of type {rate}; return a number.")
    return rate


def _expect_cold_rate(rate: float | str, epochs: list[EpochRecord], batch_size: int) -> None:
    rate = _expect_number(rate)
    first, later = [epoch for epoch in epochs if epoch["number"] == 0], _later(epochs)
    if _is_one_of(rate, _rates(first)):
        return
    _expect_images_per_second(rate, first, batch_size)
    if _is_one_of(rate, _rates(later)):
        raise Mistake("swapped", "The cold rate that you return is that of a later epoch, not of the first.")
    if _is_one_of(rate, _rates(epochs)):
        raise Mistake("cold_in_the_mean", "Your cold rate mixes all epochs; cold is the first epoch alone.")
    raise Mistake(
        "other_rate",
        "Your cold rate is not images divided by seconds of the first epoch in the result. (A clock of your "
        "own would also measure what happens around the epochs.)",
    )


def _expect_warm_rate(rate: float | str, epochs: list[EpochRecord], batch_size: int) -> None:
    rate = _expect_number(rate)
    later = _later(epochs)
    if _is_one_of(rate, _rates(later)):
        return
    if _is_one_of(rate, _rates(epochs)):
        raise Mistake(
            "cold_in_the_mean",
            "Your warm rate includes the first epoch, which started the workers and filled the cache: a mean "
            "over cold and warm epochs describes neither. Leave epochs with number 0 out.",
        )
    _expect_images_per_second(rate, later, batch_size)
    if any(_is_one_of(rate, _rates([epoch])) for epoch in epochs):
        raise Mistake(
            "a_single_epoch",
            "Your warm rate is that of a single epoch; use all later ones (their median or their total).",
        )
    raise Mistake(
        "other_rate",
        "Your warm rate is not images per second of the epochs after the first in the result. (A clock of "
        "your own would also measure what happens around the epochs.)",
    )


def _rates(
    epochs: list[EpochRecord], amount: Callable[[EpochRecord], float] = lambda e: e["images"]
) -> list[float]:
    """Return every valid way to summarise epochs as one rate: of totals, medians and means."""
    amounts, seconds = [amount(e) for e in epochs], [e["seconds"] for e in epochs]
    each = [amount / time for amount, time in zip(amounts, seconds, strict=True)]
    return [sum(amounts) / sum(seconds), median(each), fmean(each), median(amounts) / median(seconds)]


def _expect_images_per_second(rate: float, epochs: list[EpochRecord], batch_size: int) -> None:
    if any(rate == round(right, digits) for right in _rates(epochs) for digits in range(7)):
        raise Mistake("rounded", "Your rate is rounded: return it as it is, and round what you print.")
    if _is_one_of(rate, [batch_size * wrong for wrong in _batch_rates(epochs, batch_size)]):
        raise Mistake(
            "counts_full_batches",
            "Your rate counts batch_size images for every batch, or leaves the last one out, which has "
            "fewer: an epoch has epoch.images images.",
        )
    if _is_one_of(rate, _batch_rates(epochs, batch_size)):
        raise Mistake(
            "batches_per_second", "Your rate is in batches per second; an epoch has len(dataset) images."
        )
    inverse = [1 / rate for rate in _rates(epochs)]
    if _is_one_of(rate, inverse) or _is_one_of(rate, [1000 * time for time in inverse]):
        raise Mistake("time_per_image", "You return the time per image; return images per second.")
    after_first: list[EpochRecord] = [{**e, "seconds": e["seconds"] - e["first"]} for e in epochs]
    if _is_one_of(rate, _rates(after_first)):
        raise Mistake(
            "first_batch_left_out",
            "Your time starts after the first batch, but waiting for that batch is the cost of a cold start. "
            "Include it.",
        )


def _batch_rates(epochs: list[EpochRecord], batch_size: int) -> list[float]:
    """Return the rates in batches per second, without the short last batch and with it."""
    return [
        *_rates(epochs, lambda e: e["images"] // batch_size),
        *_rates(epochs, lambda e: -(-e["images"] // batch_size)),
    ]


def _is_one_of(rate: float, rates: list[float]) -> bool:
    return any(isclose(rate, other, rel_tol=1e-9) for other in rates)
