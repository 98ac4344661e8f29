"""The check of a measurement that keeps the first epoch apart from the later ones."""

from collections.abc import Callable
from math import isclose
from pathlib import Path
from statistics import fmean, median

import numpy as np
import torch
from torch.utils.data import Dataset

from course_utils.checks.core import (
    Evidence,
    Inputs,
    Mistake,
    Seen,
    Truth,
    attempt,
    folder_of,
    no_warnings,
    outcome,
)

FEWEST_EPOCHS = 3


class CountingDataset(Dataset[tuple[torch.Tensor, int]]):
    """Small images in memory that count how often each is read, also in workers."""

    def __init__(self, images: np.ndarray, path: Path) -> None:
        self.images = torch.from_numpy(images.copy())
        self.path = path
        self.reads = torch.zeros(len(images), dtype=torch.int64).share_memory_()

    def __len__(self) -> int:
        return len(self.images)

    def __getitem__(self, index: int) -> tuple[torch.Tensor, int]:
        self.reads[index] += 1
        return self.images[index], index


def make(rng: np.random.Generator) -> tuple[Inputs, Truth]:
    """Draw images and the settings that the measurement is to use."""
    images = rng.integers(0, 256, (int(rng.integers(20, 40)), 3, 16, 16), dtype=np.uint8)
    settings = {"batch_size": int(rng.integers(3, 9)), "num_workers": 0}
    return {"images": images, **settings}, {"images": len(images), **settings}


def probe(inputs: Inputs, measure: Callable[..., object]) -> Evidence:
    """Let the student's code measure a dataset that counts its reads."""
    with folder_of({"images.bin": inputs["images"].tobytes()}) as folder, no_warnings():
        dataset = CountingDataset(inputs["images"], folder)
        measured = attempt(lambda: _plain(measure(dataset, inputs["batch_size"], inputs["num_workers"])))
        return {"measured": measured, "reads": dataset.reads.tolist()}


def _plain(returned: object) -> Seen:
    if not isinstance(returned, tuple | list) or len(returned) != 3:
        return {"returned": f"{type(returned).__name__} {returned!r}"[:200]}
    result, cold, warm = returned
    epochs = [
        {"number": e.number, "seconds": e.seconds, "first": e.first_batch_seconds, "images": e.images}
        for e in getattr(result, "epochs", ())
    ]
    settings = {name: getattr(result, name, None) for name in ("batch_size", "num_workers")}
    return {"epochs": epochs, **settings, "cold": float(cold), "warm": float(warm)}


def judge(truth: Truth, found: Evidence) -> str:
    """Judge a measurement by what was read and by whether its numbers follow from its epochs."""
    measured = outcome(found["measured"])
    if "returned" in measured:
        told = f"Return three things, as in `return result, cold, warm`; you returned {measured['returned']}."
        raise Mistake("not_three_values", told)
    epochs = measured["epochs"]
    if not epochs:
        raise Mistake("no_result", "The first thing you return should be what benchmark(...) gave you.")
    _read_all(truth, found["reads"], epochs)
    _asked_for(truth, measured)
    if epochs[0]["number"] != 0:
        raise Mistake(
            "cold_thrown_away",
            "The first epoch in the result is not the first that ran: warm_start=True leaves it out.",
        )
    if len(epochs) < FEWEST_EPOCHS:
        told = f"{len(epochs)} epochs were measured; {FEWEST_EPOCHS} or more are needed, "
        raise Mistake("too_few_epochs", told + "one cold and at least two warm ones.")
    _tells_the_cold_rate(measured["cold"], measured)
    _tells_the_warm_rate(measured["warm"], measured)
    return "Every epoch read all images; the cold rate is that of the first, the warm one that of the later."


def _read_all(truth: Truth, reads: list[int], epochs: list[Seen]) -> None:
    if not any(reads):
        told = "Nothing was read from the dataset that your function was given: measure that one."
        raise Mistake("other_dataset", told)
    if min(reads) < len(epochs) or {e["images"] for e in epochs} != {truth["images"]}:
        raise Mistake(
            "not_all_images",
            f"The dataset has {truth['images']} images and the result {len(epochs)} epochs, but some images "
            f"were read {min(reads)} times. An epoch is every image once.",
        )


def _asked_for(truth: Truth, measured: Seen) -> None:
    for name in ("batch_size", "num_workers"):
        if measured[name] != truth[name]:
            raise Mistake(
                "other_settings",
                f"Your function was called with {name}={truth[name]}, but it measured with "
                f"{measured[name]}. Pass your arguments on to benchmark.",
            )


def _tells_the_cold_rate(told: float, measured: Seen) -> None:
    first, *later = measured["epochs"]
    if _is_one_of(told, _rates([first])):
        return
    _is_in_images_per_second(told, [first], measured["batch_size"])
    if _is_one_of(told, _rates(later)):
        raise Mistake("swapped", "The cold rate that you return is one of the later epochs, not the first.")
    if _is_one_of(told, _rates(measured["epochs"])):
        raise Mistake("cold_in_the_mean", "Your cold rate mixes all epochs; cold is the first epoch alone.")
    raise Mistake("other_rate", "Your cold rate is not images divided by seconds of the first epoch.")


def _tells_the_warm_rate(told: float, measured: Seen) -> None:
    later = measured["epochs"][1:]
    if _is_one_of(told, _rates(later)):
        return
    if _is_one_of(told, _rates(measured["epochs"])):
        raise Mistake(
            "cold_in_the_mean",
            "Your warm rate has the first epoch in it, which started the workers and filled the cache: a "
            "mean over cold and warm describes neither. Leave epochs[0] out.",
        )
    _is_in_images_per_second(told, later, measured["batch_size"])
    if any(_is_one_of(told, _rates([epoch])) for epoch in measured["epochs"]):
        told_so = "Your warm rate is that of a single epoch; use all later ones (their median, or their sum)."
        raise Mistake("a_single_epoch", told_so)
    raise Mistake("other_rate", "Your warm rate is not images per second of the epochs after the first.")


def _rates(epochs: list[Seen], per: Callable[[Seen], float] = lambda e: e["images"]) -> list[float]:
    """All the ways in which one may sum up epochs as a rate."""
    amounts, seconds = [per(e) for e in epochs], [e["seconds"] for e in epochs]
    each = [amount / time for amount, time in zip(amounts, seconds, strict=True)]
    return [sum(amounts) / sum(seconds), median(each), fmean(each), median(amounts) / median(seconds)]


def _is_in_images_per_second(told: float, epochs: list[Seen], batch_size: int) -> None:
    if _is_one_of(told, _rates(epochs, lambda e: -(-e["images"] // batch_size))):
        raise Mistake("batches_per_second", "That is batches per second; an epoch has len(dataset) images.")
    inverse = [1 / rate for rate in _rates(epochs)]
    if _is_one_of(told, inverse) or _is_one_of(told, [1000 * time for time in inverse]):
        raise Mistake("time_per_image", "That is time for an image; asked for are images per second.")
    waited = [{**e, "seconds": e["seconds"] - e["first"]} for e in epochs]
    if _is_one_of(told, _rates(waited)):
        raise Mistake(
            "first_batch_left_out",
            "Your time starts after the first batch; the wait for it is what a cold start costs. Count it.",
        )


def _is_one_of(told: float, rates: list[float]) -> bool:
    return any(isclose(told, rate, rel_tol=1e-9) for rate in rates)
