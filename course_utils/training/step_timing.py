"""Train and time the stages of each step: loading, copy to the device, computation."""

import itertools
import time
from collections.abc import Iterable

import torch
from torch import nn

__all__ = ["train_with_monitoring"]


def train_with_monitoring(
    model: nn.Module,
    dataloader: Iterable[tuple[torch.Tensor, torch.Tensor]],
    criterion: nn.Module,
    optimizer: torch.optim.Optimizer,
    device: torch.device | str,
    num_batches: int,
    breakdown: bool = False,
) -> dict[str, list[float]]:
    """Train on some batches; return the milliseconds of each stage, a number per batch.

    By default, the device is synchronised only at the end of the run, so that loading, copies and computation
    overlap as in a real training. On a GPU, the times of copies and computation are then those of queueing
    them, and only the sum of `total_batch` is a speed. With `breakdown`, the device is synchronised after
    every stage: the parts are true and add up, but nothing overlaps, and the total is that of a slower
    training. `Recorder` of `course_utils.pipeline` times the stages by events, without waiting.

    Lesson 03 shows this function; a test compares them.

    Args:
        model: a model on `device`.
        dataloader: yields (images, labels).
        criterion: the loss.
        optimizer: optimises the model's parameters.
        device: where to compute.
        num_batches: batches to train on; fewer if the loader ends.
        breakdown: synchronise after each stage.

    Returns:
        Lists by the name of the stage. `data_loading` is the wait for the loader, `cpu_to_gpu` the copy,
        `forward_backward` the computation with the optimiser's step, and `total_batch` the wall time from the
        end of the previous step to the end of this one; the first starts before the loader does.
    """

    def now(wait: bool = breakdown) -> float:
        if wait and torch.accelerator.is_available():
            torch.accelerator.synchronize()
        return 1e3 * time.perf_counter()

    times: dict[str, list[float]] = {
        "data_loading": [],
        "cpu_to_gpu": [],
        "forward_backward": [],
        "total_batch": [],
    }
    end = now()
    for images, labels in itertools.islice(dataloader, num_batches):
        start, loaded = end, now()
        images, labels = images.to(device, non_blocking=True), labels.to(device, non_blocking=True)
        copied = now()
        optimizer.zero_grad(set_to_none=True)
        criterion(model(images), labels).backward()
        optimizer.step()
        del images, labels
        end = now()
        stages = loaded - start, copied - loaded, end - copied, end - start
        for numbers, milliseconds in zip(times.values(), stages, strict=True):
            numbers.append(milliseconds)
    if times["total_batch"]:  # the device finishes what is still queued
        times["total_batch"][-1] += now(wait=True) - end
    return times
