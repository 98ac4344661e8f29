"""Batches on their way to a GPU, while it computes with the one before."""

from collections.abc import Callable, Iterable, Iterator

import torch

Batch = tuple[torch.Tensor, torch.Tensor]


def on_device(
    batches: Iterable[tuple[int, Batch]],
    device: torch.device,
    transform: Callable[[torch.Tensor], torch.Tensor],
) -> Iterator[tuple[int, Batch]]:
    """Copy each batch on a side stream, and give it out when the next one is under way.

    The host waits for each copy. Here it may: the loader's threads go on decoding meanwhile.

    Args:
        batches: Numbered pairs of images, in pinned memory, and labels.
        device: A CUDA device.
        transform: Gets the images, on the device and on the side stream.

    Yields:
        The number, and images and labels on the device, ready for the current stream.
    """
    side, ahead = torch.cuda.Stream(device), None
    for number, source in batches:
        source = source[0], source[1].pin_memory()
        with torch.cuda.stream(side):
            images, labels = (tensor.to(device, non_blocking=True) for tensor in source)
            batch, done = (transform(images), labels), side.record_event()
        if ahead:
            yield _arrived(*ahead)
        ahead = number, batch, done, source
    if ahead:
        yield _arrived(*ahead)


def _arrived(number: int, batch: Batch, done: torch.cuda.Event, source: Batch) -> tuple[int, Batch]:
    done.synchronize()  # until here the source was held: its memory is free for other images only now
    for tensor in batch:  # from the side stream's memory, which must outlive the work of the current one
        tensor.record_stream(torch.cuda.current_stream(tensor.device))
    return number, batch
