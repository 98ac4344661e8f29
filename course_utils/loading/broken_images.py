"""Raise, skip or replace the images of a batch that cannot be decoded, as long as they are few."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from numbers import Real
from typing import Literal

import numpy as np
import torch

from course_utils.data import BrokenSampleError, PackError
from course_utils.loading.device_prefetch import Batch

# Place in the batch, and why the image could not be decoded. An error would keep the memory of its batch.
Broken = list[tuple[int, str]]
OnError = Literal["raise", "skip"] | Callable[[BrokenSampleError], torch.Tensor | None]

EXAMPLES = 10  # messages that are kept


def require_policy(on_error: object, max_broken: float) -> None:
    """Check a policy before it is needed.

    Raises:
        ValueError: It is neither a known word nor a function, or the share is not from 0 to 1.
    """
    if on_error not in ("raise", "skip") and not callable(on_error):
        raise ValueError(f'on_error={on_error!r}: it must be "raise", "skip" or a function')
    if isinstance(max_broken, bool) or not isinstance(max_broken, Real) or not 0 <= max_broken <= 1:
        raise ValueError(f"max_broken={max_broken}: a share from 0 to 1")


@dataclass
class BrokenImages:
    """The broken images of an iteration so far; `print` it for a summary.

    Attributes:
        images: Images that this rank is to deliver in the iteration.
        max_broken: The largest share of them that may be broken; at least one may, unless it is 0.
        skipped: Number of images left out.
        replaced: Number of images that a function replaced.
        errors: Messages for the first of them.
    """

    images: int = 0
    max_broken: float = 0
    skipped: int = 0
    replaced: int = 0
    errors: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        if not self.errors:
            return f"no broken image among {self.images}"
        counts = f"{self.skipped + self.replaced} of {self.images} images are broken"
        return "\n".join([f"{counts}, {self.skipped} skipped, {self.replaced} replaced:", *self.errors])

    def handle(
        self, decoded: Iterable[tuple[Batch, np.ndarray, Broken]], on_error: OnError
    ) -> Iterator[tuple[Batch, np.ndarray]]:
        """Yield each batch without its broken images, or with others in their place; it may become empty.

        Args:
            decoded: Batches, with images in `channels_last` on the CPU, which are overwritten; the numbers of
                these images, and which are broken.
            on_error: What to do with each, as of `FastLoader`.

        Yields:
            A batch, and the numbers of its images.

        Raises:
            BrokenSampleError: The policy is to raise it.
            PackError: Too many images are broken.
            ValueError: A function returned something that cannot replace an image.
        """
        for batch, samples, broken in decoded:
            yield self._without(batch, samples, broken, on_error) if broken else (batch, samples)

    def _without(
        self, batch: Batch, samples: np.ndarray, broken: Broken, on_error: OnError
    ) -> tuple[Batch, np.ndarray]:
        images, labels = batch
        keep = np.ones(len(labels), bool)
        for place, message in broken:
            if on_error == "raise":
                raise BrokenSampleError(message)
            replacement = None if on_error == "skip" else on_error(BrokenSampleError(message))
            if replacement is not None:
                _require_image(replacement, images.shape[1:])
                images[place] = replacement
            keep[place] = replacement is not None
            self._count(message, is_replaced=replacement is not None)
        return (images[keep].contiguous(memory_format=torch.channels_last), labels[keep]), samples[keep]

    def _count(self, message: str, is_replaced: bool) -> None:
        self.replaced, self.skipped = self.replaced + is_replaced, self.skipped + (not is_replaced)
        if len(self.errors) < EXAMPLES:
            self.errors.append(message)
        count, most = self.skipped + self.replaced, math.ceil(self.max_broken * self.images)
        if count > most:
            raise PackError(
                f"{count} broken images so far, but max_broken={self.max_broken} allows {most} of the "
                f"{self.images} images of this rank: the pack or the disk is damaged, not single images. "
                "Replace the pack, or pass a larger share as max_broken. The first error: "
                f"{self.errors[0]}"
            )


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
