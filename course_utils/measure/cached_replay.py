"""Headroom: how much faster a training would be if loading were free."""

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import repeat
from typing import Any

import torch

HIDDEN_BELOW = 1.1


@dataclass(frozen=True)
class Headroom:
    """Seconds per step with the loader, and with one cached batch over and over."""

    loading: float
    cached: float
    device: str

    @property
    def factor(self) -> float:
        """How many times as fast the training would be if loading were free."""
        return self.loading / self.cached

    @property
    def sentence(self) -> str:
        """Whether loading is the bottleneck, in a sentence."""
        loading, cached = 1e3 * self.loading, 1e3 * self.cached
        times = f"{loading:.1f} ms a step with the loader, {cached:.1f} ms without, on {self.device}"
        if self.factor < HIDDEN_BELOW:
            return f"Loading is hidden ({times}): a faster loader would gain next to nothing."
        gain = f"with free loading it would run {self.factor:.1f} times as fast."
        return f"Loading is the bottleneck ({times}): {gain}"


def headroom(
    dataloader: Iterable[Any],
    step: Callable[..., object],
    device: torch.device | str,
    num_batches: int,
    warm_up: int = 2,
) -> Headroom:
    """Measure the same steps twice: fed by the loader, and by its first batch over and over.

    Args:
        dataloader: Gives tuples of tensors; at least `warm_up + num_batches` of them.
        step: One training step, called as `step(*batch)` with the batch on `device`.
        device: Where the step computes; synchronised only at both ends of each measurement.
        num_batches: Steps to measure.
        warm_up: Steps before the clock starts.

    Raises:
        ValueError: The loader has too few batches.
    """
    device = torch.device(device)
    batches = iter(dataloader)
    first = next(batches, None)
    if first is None:
        raise ValueError("the loader is empty")
    cached = [t.to(device) for t in first]
    without = _seconds(repeat(cached), step, device, num_batches, warm_up)
    del batches
    fed = ([t.to(device, non_blocking=True) for t in batch] for batch in dataloader)
    return Headroom(_seconds(fed, step, device, num_batches, warm_up), without, device.type)


def _seconds(
    batches: Iterator[Any], step: Callable[..., object], device: torch.device, num_batches: int, warm_up: int
) -> float:
    def run(count: int) -> None:
        for _ in range(count):
            batch = next(batches, None)
            if batch is None:
                raise ValueError(f"the loader has too few batches: {warm_up} + {num_batches} are needed")
            step(*batch)
        if device.type != "cpu":
            torch.accelerator.synchronize(device)

    run(warm_up)
    start = time.perf_counter()
    run(num_batches)
    return (time.perf_counter() - start) / num_batches
