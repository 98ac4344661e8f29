"""Copy batches to a GPU on a side stream, while the GPU computes with the previous batch."""

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

import torch

Key = TypeVar("Key")
Batch = tuple[torch.Tensor, torch.Tensor]


def usable_device(device: torch.device | str) -> torch.device:
    """Return where batches go.

    Raises:
        ValueError: This is neither the CPU nor a CUDA device that PyTorch can use here.
    """
    try:
        found = torch.device(device)
    except (RuntimeError, TypeError) as error:
        raise ValueError(f'device={device!r}: it must be "cpu", "cuda" or "cuda:0"') from error
    if found.type not in ("cpu", "cuda"):
        raise ValueError(
            f'device="{found}": batches go to the CPU or a CUDA device; leave device out, and move '
            f'each batch with images.to("{found}")'
        )
    if found.type == "cuda" and (found.index or 0) >= (count := torch.cuda.device_count()):
        raise ValueError(
            f'device="{found}": PyTorch can use {count} CUDA devices here. Pass device="cpu", or check the '
            "driver (nvidia-smi), CUDA_VISIBLE_DEVICES, and that this PyTorch is built with CUDA "
            "(torch.version.cuda)"
        )
    return found


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
