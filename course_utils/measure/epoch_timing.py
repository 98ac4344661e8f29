"""The time of one pass over a loader.

An epoch goes from asking for its first batch until the last one is on the device, loading included. An
accelerator works asynchronously, so it is waited for once, at the end.
"""

from collections.abc import Iterable, Iterator, Mapping
from time import perf_counter

import torch

from course_utils.measure.results import Epoch
from course_utils.storage import CacheState

__all__ = ["time_epoch"]


def time_epoch(loader: Iterable, number: int, device: torch.device, cache: CacheState | None = None) -> Epoch:
    """Move every batch of a loader to a device, and time it.

    Args:
        loader: yields batches: tensors, or lists, tuples and mappings that hold some. The first tensor of a
            batch is taken to hold its samples.
        number: which epoch of this loader it is, from 0.
        device: where the batches go.
        cache: what is in the page cache now, to be kept with the times.

    Raises:
        ValueError: The loader yields no batch.
    """
    first, images, nbytes = None, 0, 0
    start = perf_counter()
    for batch in loader:
        tensors = [tensor.to(device, non_blocking=True) for tensor in _tensors(batch)]
        if first is None:
            first = perf_counter() - start
        images += len(tensors[0])
        nbytes += sum(tensor.nbytes for tensor in tensors)
    if device.type != "cpu":
        torch.accelerator.synchronize(device)
    seconds = perf_counter() - start
    if first is None:
        raise ValueError(f"the {type(loader).__name__} gave no batch in epoch {number}")
    return Epoch(number, seconds, first, images, nbytes, cache)


def _tensors(batch: object) -> Iterator[torch.Tensor]:
    if isinstance(batch, torch.Tensor):
        yield batch
    elif isinstance(batch, Mapping):
        for value in batch.values():
            yield from _tensors(value)
    elif isinstance(batch, list | tuple):
        for value in batch:
            yield from _tensors(value)
