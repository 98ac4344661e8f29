"""Train and time the stages of each step: loading, copy to the device, computation."""

import time
from collections.abc import Iterable
from typing import Any, Protocol, TypedDict, TypeVar

import torch
from torch import nn

__all__ = ["KEYS", "StepTimes", "train_with_monitoring"]


class StepTimes(TypedDict):
    """Milliseconds per batch, one number per batch in each list.

    Attributes:
        data_loading: waiting for the loader.
        cpu_to_gpu: copying the batch to the device.
        forward_backward: computing, including the optimiser's step and freeing the batch.
        total_batch: wall time from the end of the previous step to the end of this one; the first starts
            before the loader does.
    """

    data_loading: list[float]
    cpu_to_gpu: list[float]
    forward_backward: list[float]
    total_batch: list[float]


KEYS = tuple(StepTimes.__annotations__)
Mark = TypeVar("Mark")


class Clock(Protocol[Mark]):
    """Marks points in time and measures between two of them."""

    def mark(self) -> Mark:
        """Mark the current point in time."""

    def milliseconds(self, start: Mark, end: Mark) -> float:
        """Return the milliseconds from one mark to another."""


class HostClock:
    """Marks time on the host; with `synchronise`, after all work queued on the device has finished."""

    def __init__(self, device: torch.device, synchronise: bool = False) -> None:
        self.device = device
        self._synchronises = synchronise and device.type != "cpu"

    def mark(self) -> float:
        """Return the current time in seconds."""
        if self._synchronises:
            torch.accelerator.synchronize(self.device)
        return time.perf_counter()

    def milliseconds(self, start: float, end: float) -> float:
        """Return the milliseconds from one mark to another."""
        return 1e3 * (end - start)


class EventClock:
    """Marks time on the GPU's stream with CUDA events; the host does not wait, so overlap is preserved."""

    def mark(self) -> torch.cuda.Event:
        """Record an event in the current stream."""
        event = torch.cuda.Event(enable_timing=True)  # type: ignore[no-untyped-call]  # torch's own signature
        event.record()
        return event

    def milliseconds(self, start: torch.cuda.Event, end: torch.cuda.Event) -> float:
        """Return the milliseconds from one event to another; both must have completed."""
        return float(start.elapsed_time(end))


def train_with_monitoring(
    model: nn.Module,
    dataloader: Iterable[tuple[torch.Tensor, torch.Tensor]],
    criterion: nn.Module,
    optimizer: torch.optim.Optimizer,
    device: torch.device | str,
    num_batches: int,
    breakdown: bool = False,
) -> StepTimes:
    """Train on the first `num_batches` batches and time the stages of each step.

    By default, the device is synchronised only at the end of the run, so that loading, copies and computation
    overlap as in a real training. On a GPU, copies and computation are then timed by events on the device and
    do not add up to the total. With `breakdown`, the device is synchronised after every stage: the parts add
    up, but nothing overlaps, and the total is that of a slower training.

    Args:
        model: a model on `device`.
        dataloader: yields (images, labels).
        criterion: the loss.
        optimizer: optimises the model's parameters.
        device: where to compute.
        num_batches: batches to train on; fewer if the loader ends.
        breakdown: synchronise after each stage.

    Returns:
        The times. On a GPU without `breakdown`, use only the sum and the mean of `total_batch`, because the
        host runs ahead of the device, and the last step includes the wait for it.
    """
    device = torch.device(device)
    host = HostClock(device, synchronise=breakdown)
    # A mark is a number or a CUDA event, which only its clock needs to know.
    stages: Clock[Any] = EventClock() if device.type == "cuda" and not breakdown else host
    wall: list[tuple[float, float, float]] = []
    marks: list[tuple[Any, Any, Any]] = []
    previous = host.mark()
    batches = iter(dataloader)
    while len(wall) < num_batches and (batch := next(batches, None)) is not None:
        loaded, start = host.mark(), stages.mark()
        images, labels = (tensor.to(device, non_blocking=True) for tensor in batch)
        copied = stages.mark()
        _train_step(model, criterion, optimizer, images, labels)
        del batch, images, labels  # else the next copy frees them, and seems to take that time
        marks.append((start, copied, stages.mark()))
        wall.append((previous, loaded, previous := host.mark()))
    end = HostClock(device, synchronise=True).mark()
    return _step_times(wall, marks, stages, end)


def _train_step(
    model: nn.Module,
    criterion: nn.Module,
    optimizer: torch.optim.Optimizer,
    images: torch.Tensor,
    labels: torch.Tensor,
) -> None:
    optimizer.zero_grad(set_to_none=True)
    criterion(model(images), labels).backward()
    optimizer.step()


def _step_times(
    wall: list[tuple[float, float, float]],
    marks: list[tuple[Any, Any, Any]],
    stages: Clock[Any],
    end: float,
) -> StepTimes:
    times = StepTimes(
        data_loading=[1e3 * (loaded - previous) for previous, loaded, _ in wall],
        cpu_to_gpu=[stages.milliseconds(start, copied) for start, copied, _ in marks],
        forward_backward=[stages.milliseconds(copied, computed) for _, copied, computed in marks],
        total_batch=[1e3 * (done - previous) for previous, _, done in wall],
    )
    if wall:
        times["total_batch"][-1] = 1e3 * (end - wall[-1][0])
    return times
