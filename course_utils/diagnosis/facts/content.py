"""What a sample or a batch consists of: parts, bytes, digests, floats that were bytes."""

import zlib
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import torch

from course_utils.diagnosis.facts.tokens import count_tokens

MOST_PARTS = 5_000


class Batch(NamedTuple):
    """A batch in numbers.

    Attributes:
        parts: Tensors, arrays and other objects in it.
        nbytes: Bytes of tensors.
        array_bytes: Bytes of NumPy arrays, strings and byte strings, which are pickled.
        float_bytes: Bytes of tensors of floats that hold at most 256 different values a channel.
        lengths: The lengths of the first dimension that occur.
        pixels: Height times width of the largest picture.
        places: Places of tokens, padding included.
        useful: Of these, how many are not padding.
    """

    parts: int
    nbytes: int
    array_bytes: int
    float_bytes: int
    lengths: list[int]
    pixels: int
    places: int = 0
    useful: int = 0


def describe(batch: object) -> Batch:
    """Describe a batch; its data is looked at, never changed."""
    parts = nbytes = array_bytes = float_bytes = pixels = 0
    lengths: set[int] = set()
    listed = list(leaves(batch))
    for part in listed:
        parts += 1
        if isinstance(part, torch.Tensor):
            size = part.numel() * part.element_size()
            nbytes += size
            lengths |= {part.shape[0]} if part.dim() else set()
            float_bytes += size if _were_bytes(part) else 0
            pixels = max(pixels, _pixels(tuple(part.shape)))
        elif isinstance(part, np.ndarray):
            array_bytes += part.nbytes
            lengths |= {part.shape[0]} if part.ndim else set()
        elif isinstance(part, (str, bytes)):
            array_bytes += len(part)
    lengths |= _list_lengths(batch)
    tokens = count_tokens(batch, listed)
    return Batch(parts, nbytes, array_bytes, float_bytes, sorted(lengths)[:8], pixels, *tokens)


def leaves(value: object, most: int = MOST_PARTS) -> Iterator[object]:
    """Yield what a nested batch holds, at most `most` parts."""
    stack = [value]
    while stack and most:
        item = stack.pop()
        if isinstance(item, Mapping):
            stack += list(item.values())
        elif isinstance(item, (list, tuple)):
            stack += list(item[:most])
        else:
            most -= 1
            yield item


def _list_lengths(batch: object) -> set[int]:
    if isinstance(batch, Mapping):
        return {len(item) for item in batch.values() if isinstance(item, (list, tuple))}
    inner = list(batch) if isinstance(batch, (list, tuple)) else []
    return {len(inner)} | {len(item) for item in inner if isinstance(item, (list, tuple))} if inner else set()


def _pixels(shape: tuple[int, ...]) -> int:
    if len(shape) < 3:
        return 0
    height, width = shape[-2:] if shape[-1] > 4 else shape[-3:-1]
    return height * width


def _were_bytes(tensor: torch.Tensor) -> bool:
    """Whether floats take at most 256 values a channel, as pixels do that were converted."""
    if tensor.dtype not in (torch.float32, torch.float64) or tensor.dim() < 4 or tensor.device.type != "cpu":
        return False
    plane = tensor[0, ..., 0] if tensor.shape[-1] in (1, 3, 4) else tensor[0, 0]
    values = plane.detach().reshape(-1)[:8192]
    return values.numel() >= 1024 and 16 <= np.unique(values.numpy()).size <= 256


def digest(sample: object) -> tuple[int, ...]:
    """Return a number for each part of a sample, that differs where the part does."""
    return tuple(_digest(part) for part in leaves(sample, 8))


def addresses(sample: object) -> list[int]:
    """Return where the parts of a sample lie in memory, 0 for those that cannot be overwritten."""
    found = []
    for part in leaves(sample, 8):
        if isinstance(part, torch.Tensor) and part.numel():
            found.append(part.data_ptr())
        else:
            found.append(
                part.__array_interface__["data"][0] if isinstance(part, np.ndarray) and part.size else 0
            )
    return found


def _digest(part: Any) -> int:
    if isinstance(part, torch.Tensor):
        if part.device.type != "cpu":
            return 0
        part = part.detach().reshape(-1)[:2048].contiguous().view(torch.uint8).numpy()
    if isinstance(part, np.ndarray):
        return (
            zlib.crc32(np.ascontiguousarray(part.reshape(-1)[:2048]).tobytes()) if part.dtype != object else 0
        )
    if isinstance(part, (str, bytes, int, float, bool)):
        return zlib.crc32(repr(part).encode())
    return 0
