"""Measure headroom: how much faster a training would run if loading were free."""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from dataclasses import dataclass
from itertools import repeat

import torch

__all__ = ["Headroom", "headroom"]

HIDDEN_BELOW = 1.1
ROUNDS = 3


@dataclass(frozen=True)
class Headroom:
    """Seconds per step with the loader, and with one cached batch replayed.

    Args:
        loading: seconds per step with the loader.
        cached: seconds per step with the cached batch.
        device: type of the device that computed.
    """

    loading: float
    cached: float
    device: str

    @property
    def factor(self) -> float:
        """How many times as fast the training would run if loading were free."""
        return self.loading / self.cached

    @property
    def sentence(self) -> str:
        """A sentence that says whether loading is the bottleneck."""
        loading, cached = 1e3 * self.loading, 1e3 * self.cached
        times = f"{loading:.1f} ms a step with the loader, {cached:.1f} ms without, on {self.device}"
        if self.factor < HIDDEN_BELOW:
            return f"Loading is hidden ({times}): a faster loader would gain next to nothing."
        gain = f"with free loading it would run {self.factor:.1f} times as fast."
        return f"Loading is the bottleneck ({times}): {gain}"


def headroom(
    dataloader: Iterable[Sequence[torch.Tensor]],
    step: Callable[..., object],
    device: torch.device | str,
    num_batches: int,
    warm_up: int = 2,
) -> Headroom:
    """Time the same steps twice: fed by the loader, and with its first batch replayed from memory.

    The batches that workers prefetch at the start are ready at once and say nothing about the speed of the
    loader, so they are left out, and several rounds of all workers are timed.

    Args:
        dataloader: yields sequences of tensors; at least as many batches as are timed and left out.
        step: one training step, called as `step(*batch)` with the batch on `device`.
        device: where the step computes; synchronised only at the start and the end of each measurement.
        num_batches: steps to time, at least; `ROUNDS` for each worker of a `DataLoader` if that is more.
        warm_up: untimed steps before them, in addition to the prefetched batches of a `DataLoader`.

    Raises:
        ValueError: A number is out of range, a batch is not a sequence of tensors, or the loader has too few
            batches; if it has a length, before anything is timed.
    """
    if num_batches < 1 or warm_up < 0:
        raise ValueError(f"num_batches={num_batches}, warm_up={warm_up}: at least 1 and 0")
    device = torch.device(device)
    workers = getattr(dataloader, "num_workers", 0)
    warm_up += workers * (getattr(dataloader, "prefetch_factor", None) or 0)
    num_batches = max(num_batches, ROUNDS * workers)
    if isinstance(dataloader, Sized) and 0 < len(dataloader) < warm_up + num_batches:
        raise ValueError(
            f"the loader has too few batches ({len(dataloader)}): {warm_up} + {num_batches} are needed"
        )
    batches = iter(dataloader)
    first = next(batches, None)
    if first is None:
        raise ValueError("the loader is empty")
    _require_tensors(first)
    replay = repeat([tensor.to(device) for tensor in first])
    cached = _seconds_per_step(replay, step, device, num_batches, warm_up)
    del batches  # stops the workers of the first pass
    fed = ([tensor.to(device, non_blocking=True) for tensor in batch] for batch in dataloader)
    return Headroom(_seconds_per_step(fed, step, device, num_batches, warm_up), cached, device.type)


def _require_tensors(batch: object) -> None:
    if not isinstance(batch, list | tuple) or not all(isinstance(one, torch.Tensor) for one in batch):
        raise ValueError(
            f"the loader yields batches of type {type(batch).__name__}; each must be a list or tuple of "
            "tensors, which are the arguments of the step"
        )


def _seconds_per_step(
    batches: Iterator[Sequence[torch.Tensor]],
    step: Callable[..., object],
    device: torch.device,
    num_batches: int,
    warm_up: int,
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
