"""Check a measurement that reports the first epoch separately from the later ones."""

from collections.abc import Callable
from itertools import pairwise
from math import isclose
from typing import Any, TypedDict
from unittest import mock

import numpy as np
import torch

from course_utils.checks import core
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

mistake = core.Messages(__name__)

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


def make(rng: np.random.Generator, workers: bool = True) -> tuple[core.Inputs, core.Truth]:
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


def probe(inputs: core.Inputs, world: Handle, measure: Callable[..., Any]) -> list[core.AttemptOf[Measured]]:
    """Let the student's code measure two datasets on a clock that only reading advances."""

    def evict(paths: page_cache.PathLike) -> page_cache.CacheState:
        world.evict()
        return page_cache.CacheState(0, 0)

    def measured(number: int, images: int, batch_size: int, num_workers: int) -> core.AttemptOf[Measured]:
        world.start()
        dataset = CountingDataset(world, number, images, folder)
        result: core.AttemptOf[Measured] = core.attempt(
            lambda: _plain(measure(dataset, batch_size, num_workers))
        )
        return result

    replaced = mock.patch.object(page_cache, "evict", evict), mock.patch(CLOCK, world.clock)
    with core.folder_with({"images.bin": b"."}) as folder, fork_by_default(), replaced[0], replaced[1]:
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
    return float(rate) if is_number else core.type_name(rate)


def judge(truth: core.Truth, evidence: core.Evidence, world: World) -> str:
    """Check which images were read, and that both rates follow from the measured epochs."""
    for number, (settings, measured) in enumerate(zip(truth["settings"], evidence, strict=True)):
        if "'cold_start'" in measured.get("error", ""):
            raise mistake("other_benchmark")
        _judge_measurement(settings, core.value_of(measured), world.measurements[number], world.reads[number])
    return (
        "Every epoch read all images; the cold rate is that of the first epoch, the warm rate that of the "
        "later ones."
    )


def _judge_measurement(settings: dict[str, int], measured: Any, timed: list[Timing], reads: int) -> None:  # noqa: ANN401
    epochs = measured.get("epochs")
    mistakes = {
        "not_three_values": "returned" in measured,
        "no_result": not epochs,
        "other_dataset": not reads,
    }
    mistake.raise_first(mistakes, returned=measured.get("returned"))
    timings = _expect_all_read(settings["images"], epochs, timed)
    _expect_settings(settings, measured, timings)
    evicted = [timing.cold for timing, e in zip(timings, epochs, strict=True) if e["number"] == 0]
    mistakes = {
        "cold_thrown_away": epochs[0]["number"] != 0,
        "not_from_benchmark": not _follow_each_other(epochs, timings),
        "no_cold_start": not all(evicted),
        "too_few_epochs": len(epochs) < MIN_EPOCHS or not warm_epochs(epochs),
    }
    mistake.raise_first(mistakes, epochs_count=len(epochs), min_epochs=MIN_EPOCHS)
    expect_cold_rate(measured["cold"], epochs, settings["batch_size"])
    expect_warm_rate(measured["warm"], epochs, settings["batch_size"])


def _expect_all_read(images: int, epochs: list[EpochRecord], timed: list[Timing]) -> list[Timing]:
    """Return how `benchmark` timed each epoch; all images must have been read in it."""
    timings = [timing for epoch in epochs if (timing := _timing_of(epoch, timed)) is not None]
    if len(timings) < len(epochs) or len({timing.number for timing in timings}) < len(epochs):
        raise mistake("not_from_benchmark")
    for epoch, timing in zip(epochs, timings, strict=True):
        if epoch["images"] != images or sorted(timing.reads) != list(range(images)):
            raise mistake("not_all_images", images=images, read=len(set(timing.reads)), epoch=epoch)
    return timings


def _follow_each_other(epochs: list[EpochRecord], timings: list[Timing]) -> bool:
    """Return whether epochs are all those that were timed in a row; `warm_start` leaves number 0 out."""
    steps = [after.number - before.number for before, after in pairwise(timings)]
    return all(
        step == 1 or (step == 2 and e["number"] == 1) for step, e in zip(steps, epochs[1:], strict=True)
    )


def _timing_of(epoch: EpochRecord, timings: list[Timing]) -> Timing | None:
    """Return the timing with the seconds of an epoch in a result."""
    for timing in timings:
        if timing.ended:
            start, first, end = timing.readings
            if isclose(epoch["seconds"], end - start) and isclose(epoch["first"], first - start):
                return timing
    return None


def _expect_settings(settings: dict[str, int], measured: Any, timings: list[Timing]) -> None:  # noqa: ANN401
    for name in ("batch_size", "num_workers"):
        if measured[name] != settings[name]:
            raise mistake("other_settings.result", name=name, given=settings[name], used=measured[name])
    in_first = any(timing.first_reads != settings["batch_size"] for timing in timings)
    in_parent = not all(timing.by_workers for timing in timings)
    mistakes = {
        "other_settings.first_batch": not settings["num_workers"] and in_first,
        "other_settings.no_worker": settings["num_workers"] and in_parent,
    }
    mistake.raise_first(mistakes, **settings, first_reads=timings[0].first_reads)
