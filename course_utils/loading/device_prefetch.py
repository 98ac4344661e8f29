"""Copy batches to a GPU on a side stream, while the GPU computes with the previous batch."""

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

import torch

Key = TypeVar("Key")
Batch = tuple[torch.Tensor, torch.Tensor]


def prefetch_to_device(
    batches: Iterable[tuple[Key, Batch]],
    device: torch.device,
    transform: Callable[[torch.Tensor, Key], torch.Tensor],
) -> Iterator[tuple[Key, Batch]]:
    """Copy each batch on a side stream, and yield it once the copy of the next one has been queued.

    The host waits for each copy, which is harmless here: the loader's threads continue decoding.

    Args:
        batches: Pairs of images, in pinned memory, and labels; each with a key.
        device: A CUDA device.
        transform: Applied to the images on the device and the key, on the side stream.

    Yields:
        The key, and images and labels on the device, ready for the current stream.
    """
    side: torch.cuda.Stream = torch.cuda.Stream(device)  # type: ignore[no-untyped-call]  # not annotated
    ahead = None
    for key, source in batches:
        source = source[0], source[1].pin_memory()
        with torch.cuda.stream(side):
            images, labels = (tensor.to(device, non_blocking=True) for tensor in source)
            batch, copied = (transform(images, key), labels), side.record_event()
        if ahead:
            yield _wait(*ahead)
        ahead = key, batch, copied, source
    if ahead:
        yield _wait(*ahead)


def _wait(key: Key, batch: Batch, copied: torch.cuda.Event, source: Batch) -> tuple[Key, Batch]:
    copied.synchronize()  # `source` is referenced until here, so its memory is not reused before
    for tensor in batch:  # allocated on the side stream: not to be freed before the current one has used it
        tensor.record_stream(torch.cuda.current_stream(tensor.device))
    return key, batch
