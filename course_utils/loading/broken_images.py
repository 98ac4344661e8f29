"""Raise, skip or replace the images of a batch that cannot be decoded."""

from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np
import torch

from course_utils.data import PackError
from course_utils.loading.device_prefetch import Batch

Broken = list[tuple[int, PackError]]  # place in the batch, and why the image could not be decoded
OnError = Literal["raise", "skip"] | Callable[[PackError], torch.Tensor | None]


def require_policy(on_error: object) -> None:
    """Check a policy before it is needed.

    Raises:
        ValueError: It is neither a known word nor a function.
    """
    if on_error not in ("raise", "skip") and not callable(on_error):
        raise ValueError(f'on_error={on_error!r}: it must be "raise", "skip" or a function')


def without_broken(
    batch: Batch, samples: np.ndarray, broken: Broken, on_error: OnError
) -> tuple[Batch, np.ndarray]:
    """Return a batch without its broken images, or with others in their place.

    Args:
        batch: Images, in `channels_last`, and labels on the CPU; images are overwritten.
        samples: Numbers of its images.
        broken: Which images are broken, and why.
        on_error: What to do with each, as of `FastLoader`.

    Returns:
        The batch, and the numbers of its images.

    Raises:
        PackError: The policy is to raise it.
        ValueError: A function returned something that cannot replace an image.
    """
    images, labels = batch
    keep = np.ones(len(labels), bool)
    for place, error in broken:
        if on_error == "raise":
            raise error
        replacement = None if on_error == "skip" else on_error(error)
        keep[place] = replacement is not None
        if replacement is not None:
            _require_image(replacement, images.shape[1:])
            images[place] = replacement
    return (images[keep].contiguous(memory_format=torch.channels_last), labels[keep]), samples[keep]


def _require_image(replacement: object, shape: Sequence[int]) -> None:
    """Refuse what PyTorch would convert or broadcast in silence: floats from 0 to 1 would become black."""
    if isinstance(replacement, torch.Tensor):
        if replacement.dtype == torch.uint8 and replacement.shape == torch.Size(shape):
            return
        found = f"a tensor of {str(replacement.dtype).removeprefix('torch.')} {tuple(replacement.shape)}"
    else:
        found = f"{type(replacement).__name__} {replacement!r:.40}"
    raise ValueError(
        f"on_error returned {found}; it must return a tensor of uint8 {tuple(shape)}, or None to skip"
    )
