"""Check a measurement that reports the first epoch separately from the later ones."""

from collections.abc import Callable
from math import isclose
from pathlib import Path
from statistics import fmean, median
from typing import Any, TypedDict
from unittest import mock

import numpy as np
import torch
from torch.utils.data import Dataset

from course_utils.checks.core import (
    Evidence,
    Inputs,
    Mistake,
    Truth,
    attempt,
    folder_with,
    ignore_warnings,
    value_of,
)
from course_utils.storage import page_cache

MIN_EPOCHS = 3


class CountingDataset(Dataset[tuple[torch.Tensor, int]]):
    """Small images in memory that count how often each one is read, also by workers."""

    def __init__(self, images: np.ndarray, path: Path) -> None:
        self.images = torch.from_numpy(images.copy())
        self.path = path
        self.reads = torch.zeros(len(images), dtype=torch.int64)
        self.reads.share_memory_()  # type: ignore[no-untyped-call]  # torch does not annotate it

    def __len__(self) -> int:
        return len(self.images)

    def __getitem__(self, index: int) -> tuple[torch.Tensor, int]:
        self.reads[index] += 1
        return self.images[index], index


class EpochRecord(TypedDict):
    """One epoch of a benchmark's result: `seconds` of it were waited for the `first` batch."""

    number: int
    seconds: float
    first: float
    images: int


class Measured(TypedDict):
    """What the student's function returned: the benchmark's result, and two rates in images/s."""

    epochs: list[EpochRecord]
    batch_size: int | None
    num_workers: int | None
    cold: float
    warm: float


def make(rng: np.random.Generator) -> tuple[Inputs, Truth]:
    """Draw images, and the settings that the measurement must use."""
    images = rng.integers(0, 256, (int(rng.integers(20, 40)), 3, 16, 16), dtype=np.uint8)
    settings = {"batch_size": int(rng.integers(3, 9)), "num_workers": 0}
    return {"images": images, **settings}, {"images": len(images), **settings}


def probe(inputs: Inputs, measure: Callable[..., Any]) -> Evidence:
    """Let the student's code measure a dataset that counts its reads; count evictions from the page cache."""
    evict = mock.patch.object(page_cache, "evict", wraps=page_cache.evict)
    files = {"images.bin": inputs["images"].tobytes()}
    with folder_with(files) as folder, ignore_warnings(), evict as evictions:
        dataset = CountingDataset(inputs["images"], folder)
        measured = attempt(lambda: _plain(measure(dataset, inputs["batch_size"], inputs["num_workers"])))
        return {"measured": measured, "reads": dataset.reads.tolist(), "evictions": evictions.call_count}


def _plain(returned: Any) -> Measured | dict[str, str]:  # noqa: ANN401 - the student's result
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
        "cold": float(cold),
        "warm": float(warm),
    }


def judge(truth: Truth, found: Evidence) -> str:
    """Check which images were read, and that both rates follow from the measured epochs."""
    measured = value_of(found["measured"])
    if "returned" in measured:
        raise Mistake(
            "not_three_values",
            f"Return three values, as in `return result, cold, warm`; you returned: {measured['returned']}.",
        )
    epochs = measured["epochs"]
    if not epochs:
        raise Mistake("no_result", "The first value that you return should be the result of benchmark(...).")
    _expect_all_read(truth, found["reads"], epochs)
    _expect_settings(truth, measured)
    if epochs[0]["number"] != 0:
        raise Mistake(
            "cold_thrown_away",
            "The first epoch in the result is not the first that ran: warm_start=True leaves it out.",
        )
    if not found["evictions"]:
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
    _expect_cold_rate(measured["cold"], epochs, truth["batch_size"])
    _expect_warm_rate(measured["warm"], epochs, truth["batch_size"])
    return (
        "Every epoch read all images; the cold rate is that of the first epoch, the warm rate that of the "
        "later ones."
    )


def _expect_all_read(truth: Truth, reads: list[int], epochs: list[EpochRecord]) -> None:
    if not any(reads):
        message = "Nothing was read from the dataset that your function was given: measure that dataset."
        raise Mistake("other_dataset", message)
    if min(reads) < len(epochs) or {e["images"] for e in epochs} != {truth["images"]}:
        raise Mistake(
            "not_all_images",
            f"The dataset has {truth['images']} images and the result {len(epochs)} epochs, but not "
            f"every image was read in each epoch (fewest reads: {min(reads)}). Measure all images.",
        )


def _expect_settings(truth: Truth, measured: Measured) -> None:
    for name, used in (("batch_size", measured["batch_size"]), ("num_workers", measured["num_workers"])):
        if used != truth[name]:
            raise Mistake(
                "other_settings",
                f"Your function was called with {name}={truth[name]}, but it measured with {used}. Pass your "
                "arguments on to benchmark.",
            )


def _later(epochs: list[EpochRecord]) -> list[EpochRecord]:
    """Return the warm epochs; with ``repeats`` each repeat has a first epoch of its own."""
    return [epoch for epoch in epochs if epoch["number"] > 0]


def _expect_cold_rate(rate: float, epochs: list[EpochRecord], batch_size: int) -> None:
    first, later = [epoch for epoch in epochs if epoch["number"] == 0], _later(epochs)
    if _is_one_of(rate, _rates(first)):
        return
    _expect_images_per_second(rate, first, batch_size)
    if _is_one_of(rate, _rates(later)):
        raise Mistake("swapped", "The cold rate that you return is that of a later epoch, not of the first.")
    if _is_one_of(rate, _rates(epochs)):
        raise Mistake("cold_in_the_mean", "Your cold rate mixes all epochs; cold is the first epoch alone.")
    raise Mistake("other_rate", "Your cold rate is not images divided by seconds of the first epoch.")


def _expect_warm_rate(rate: float, epochs: list[EpochRecord], batch_size: int) -> None:
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
    raise Mistake("other_rate", "Your warm rate is not images per second of the epochs after the first.")


def _rates(
    epochs: list[EpochRecord], amount: Callable[[EpochRecord], float] = lambda e: e["images"]
) -> list[float]:
    """Return every valid way to summarise epochs as one rate: of totals, medians and means."""
    amounts, seconds = [amount(e) for e in epochs], [e["seconds"] for e in epochs]
    each = [amount / time for amount, time in zip(amounts, seconds, strict=True)]
    return [sum(amounts) / sum(seconds), median(each), fmean(each), median(amounts) / median(seconds)]


def _expect_images_per_second(rate: float, epochs: list[EpochRecord], batch_size: int) -> None:
    if _is_one_of(rate, _rates(epochs, lambda e: -(-e["images"] // batch_size))):
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


def _is_one_of(rate: float, rates: list[float]) -> bool:
    return any(isclose(rate, other, rel_tol=1e-9) for other in rates)
