"""Check a measurement that reports the first epoch separately from the later ones."""

from collections.abc import Callable
from itertools import pairwise
from math import isclose
from typing import Any, TypedDict
from unittest import mock

import numpy as np
import torch

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
from course_utils.checks.jpeg_vs_zip._rates import (
    EpochRecord,
    expect_cold_rate,
    expect_warm_rate,
    warm_epochs,
)
from course_utils.checks.jpeg_vs_zip._timed_epochs import CLOCK, CountingDataset, Timing, World
from course_utils.checks.world.handle import Handle
from course_utils.storage import page_cache
from course_utils.system import fork_by_default

MIN_EPOCHS = 3


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


def make(rng: np.random.Generator, workers: bool = True) -> tuple[Inputs, Truth]:
    """Draw two datasets and the settings of their measurements: the last batch is short, one has a worker.

    Without `workers` neither has one, and what only a worker shows is not found.
    """
    sizes = rng.choice(range(3, 9), 2, replace=False).tolist()
    settings = [
        {
            "images": size * int(rng.integers(4, 7)) + int(rng.integers(1, size)),
            "batch_size": size,
            "num_workers": number if workers else 0,
        }
        for number, size in enumerate(sizes)
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
        if "'cold_start'" in measured.get("error", ""):
            raise Mistake(
                "other_benchmark",
                "Your function calls the `benchmark` of section 2, which knows no `cold_start`: its cell was "
                "run again. Run the cell with `from course_utils.measure import benchmark` again.",
            )
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
    if not _follow_each_other(epochs, timings):
        raise _not_from_benchmark()
    if not all(timing.cold for timing, e in zip(timings, epochs, strict=True) if e["number"] == 0):
        raise Mistake(
            "no_cold_start",
            "The files may have been in the page cache before the first epoch: pass cold_start=True.",
        )
    if len(epochs) < MIN_EPOCHS or not warm_epochs(epochs):
        raise Mistake(
            "too_few_epochs",
            f"The result has {len(epochs)} of at least {MIN_EPOCHS} epochs: measure one cold epoch and "
            "two warm ones.",
        )
    expect_cold_rate(measured["cold"], epochs, settings["batch_size"])
    expect_warm_rate(measured["warm"], epochs, settings["batch_size"])


def _expect_all_read(images: int, epochs: list[EpochRecord], timed: list[Timing]) -> list[Timing]:
    """Return how `benchmark` timed each epoch; all images must have been read in it."""
    timings = [timing for epoch in epochs if (timing := _timing_of(epoch, timed)) is not None]
    if len(timings) < len(epochs) or len({timing.number for timing in timings}) < len(epochs):
        raise _not_from_benchmark()
    for epoch, timing in zip(epochs, timings, strict=True):
        if epoch["images"] != images or sorted(timing.reads) != list(range(images)):
            raise Mistake(
                "not_all_images",
                f"The dataset has {images} images, but an epoch of your result read "
                f"{len(set(timing.reads))} of them and counts {epoch['images']}. Measure all images.",
            )
    return timings


def _follow_each_other(epochs: list[EpochRecord], timings: list[Timing]) -> bool:
    """Return whether epochs are all those that were timed in a row; `warm_start` leaves number 0 out."""
    steps = [after.number - before.number for before, after in pairwise(timings)]
    return all(
        step == 1 or (step == 2 and e["number"] == 1) for step, e in zip(steps, epochs[1:], strict=True)
    )


def _not_from_benchmark() -> Mistake:
    return Mistake(
        "not_from_benchmark",
        "The epochs in your result are not those that `benchmark` measured, one after another. Return its "
        "result as it is.",
    )


def _timing_of(epoch: EpochRecord, timings: list[Timing]) -> Timing | None:
    """Return the timing with the seconds of an epoch in a result."""
    for timing in timings:
        if timing.ended:
            start, first, end = timing.readings
            if isclose(epoch["seconds"], end - start) and isclose(epoch["first"], first - start):
                return timing
    return None


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
