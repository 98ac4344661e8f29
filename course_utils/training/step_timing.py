"""Training with a stopwatch: where the time of each batch goes."""

import time
from collections.abc import Iterable
from typing import Any

import torch
from torch import nn

KEYS = ("data_loading", "cpu_to_gpu", "forward_backward", "total_batch")


class HostClock:
    """Marks time on the host; with `synchronise`, only when the device has done what was queued."""

    def __init__(self, device: torch.device, synchronise: bool = False) -> None:
        self.device = device
        self._waits = synchronise and device.type != "cpu"

    def mark(self) -> float:
        """A point in time, in seconds."""
        if self._waits:
            torch.accelerator.synchronize(self.device)
        return time.perf_counter()

    def milliseconds(self, start: float, end: float) -> float:
        """From one mark to another."""
        return 1e3 * (end - start)


class EventClock:
    """Marks time on the GPU's stream by CUDA events: the host does not wait, so the overlap stays."""

    def mark(self) -> torch.cuda.Event:
        """A point in the stream of work."""
        event = torch.cuda.Event(enable_timing=True)
        event.record()
        return event

    def milliseconds(self, start: torch.cuda.Event, end: torch.cuda.Event) -> float:
        """From one mark to another; both must have happened."""
        return start.elapsed_time(end)


def train_with_monitoring(
    model: nn.Module,
    dataloader: Iterable[tuple[torch.Tensor, torch.Tensor]],
    criterion: nn.Module,
    optimizer: torch.optim.Optimizer,
    device: torch.device | str,
    num_batches: int,
    breakdown: bool = False,
) -> dict[str, list[float]]:
    """Train on the first `num_batches` batches and say where the time went.

    Two modes. By default nothing waits for the device but the end of the run, so loading, copies and compute
    overlap as they do in a real training; on a GPU the copy and the compute are timed on the device by events
    and do not add up to the total. With `breakdown` the device is synchronised after every stage: then the
    parts add up, but nothing overlaps and the total is that of a slower training.

    Args:
        model: Already on `device`.
        dataloader: Gives (images, labels).
        criterion: The loss.
        optimizer: Of the model's parameters.
        device: Where to compute.
        num_batches: How many batches to train on; fewer if the loader ends.
        breakdown: Synchronise after each stage.

    Returns:
        Milliseconds per batch, one number for each batch, under `data_loading` (waiting for the loader),
        `cpu_to_gpu`, `forward_backward` (with the optimiser's step) and `total_batch`, the wall time from the
        end of one step to the end of the next. The total contains the loading and starts before the first
        batch was asked for; without `breakdown` only its sum and mean are meant for use on a GPU.
    """
    device = torch.device(device)
    host = HostClock(device, synchronise=breakdown)
    stages = EventClock() if device.type == "cuda" and not breakdown else host
    wall: list[tuple[float, float, float]] = []
    marks: list[tuple[Any, Any, Any]] = []
    ended = host.mark()
    batches = iter(dataloader)
    while len(wall) < num_batches and (batch := next(batches, None)) is not None:
        loaded, begin = host.mark(), stages.mark()
        images, labels = (t.to(device, non_blocking=True) for t in batch)
        copied = stages.mark()
        _train_step(model, criterion, optimizer, images, labels)
        marks.append((begin, copied, stages.mark()))
        wall.append((ended, loaded, ended := host.mark()))
    end = HostClock(device, synchronise=True).mark()
    return _times(wall, marks, stages, end)


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


def _times(
    wall: list[tuple[float, float, float]],
    marks: list[tuple[Any, Any, Any]],
    stages: HostClock | EventClock,
    end: float,
) -> dict[str, list[float]]:
    times: dict[str, list[float]] = {key: [] for key in KEYS}
    for (start, loaded, stop), (begin, copied, computed) in zip(wall, marks, strict=True):
        times["data_loading"].append(1e3 * (loaded - start))
        times["cpu_to_gpu"].append(stages.milliseconds(begin, copied))
        times["forward_backward"].append(stages.milliseconds(copied, computed))
        times["total_batch"].append(1e3 * (stop - start))
    if wall:
        times["total_batch"][-1] = 1e3 * (end - wall[-1][0])
    return times
