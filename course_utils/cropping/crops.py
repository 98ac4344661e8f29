"""Which part of each image a batch shows: what crops have in common, and those that are not random."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from course_utils.cropping.center import DRAFT_MOVE, MOVE, center_cut
from course_utils.cropping.cut import Cut

Size = int | tuple[int, int]


class Crop(Protocol):
    """Determines what is cut out of images; `FastLoader` calls it for each batch, and for each image.

    Its `repr` names its parameters: the state of a loader holds it, and only a loader with the same resumes.
    """

    @property
    def shape(self) -> tuple[int, int]:
        """Height and width of the result."""

    def draw(self, seed: int, epoch: int, samples: np.ndarray) -> Sequence[Any]:
        """Return the random parameters of each sample: the same ones whenever they are drawn."""

    def cut(self, height: int, width: int, drawn: Any) -> Cut:  # noqa: ANN401 - what `draw` returned
        """Return what is cut out of an image of this size."""


@dataclass(frozen=True)
class Resize:
    """The whole image, resized with antialiasing, whatever its aspect.

    Args:
        size: Height and width of the result, or one number for both.
        draft: Decode large images at 1/2, 1/4 or 1/8 of their size, see `reduction`.

    Raises:
        ValueError: The size is out of range.
    """

    size: Size
    draft: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", self.shape)  # so that equal crops have one repr

    @property
    def shape(self) -> tuple[int, int]:
        """Height and width of the result."""
        return height_and_width(self.size)

    def draw(self, seed: int, epoch: int, samples: np.ndarray) -> list[None]:
        """Return None for each sample: nothing is random."""
        return [None] * len(samples)

    def cut(self, height: int, width: int, drawn: None) -> Cut:
        """Return what is cut out of an image of this size."""
        step = reduction(height, width, self.shape) if self.draft else 1
        return Cut(0, 0, height, width, self.shape, reduction=step)


@dataclass(frozen=True)
class ResizeCenterCrop:
    """The centre of the image, after a resize of its shorter side with antialiasing: to evaluate.

    Args:
        resize: The shorter side after resizing, at least as long as the result.
        size: Height and width of the result, or one number for both.
        draft: Decode large images at 1/2, 1/4 or 1/8 of their size, see `reduction`, and move the centre by
            up to 1/16 of a pixel where less has to be decoded then. That alone changes pixels by 0.3 of 255
            on average, and by 5 at most; without it, they are those of the whole image.

    Raises:
        ValueError: A number is out of range.
    """

    resize: int
    size: Size
    draft: bool = False

    def __post_init__(self) -> None:
        if self.resize < max(self.shape):
            raise ValueError(f"resize={self.resize}: at least as long as the result, size={self.size}")
        object.__setattr__(self, "size", self.shape)  # so that equal crops have one repr

    @property
    def shape(self) -> tuple[int, int]:
        """Height and width of the result."""
        return height_and_width(self.size)

    def draw(self, seed: int, epoch: int, samples: np.ndarray) -> list[None]:
        """Return None for each sample: nothing is random."""
        return [None] * len(samples)

    def cut(self, height: int, width: int, drawn: None) -> Cut:
        """Return what is cut out of an image of this size."""
        shorter = min(height, width)
        resized = self.resize * height // shorter, self.resize * width // shorter
        step = reduction(height, width, resized) if self.draft else 1
        return center_cut((height, width), resized, self.shape, step, DRAFT_MOVE if self.draft else MOVE)


def height_and_width(size: Size) -> tuple[int, int]:
    """Return both from a pair or from one number; ValueError if one is not positive."""
    height, width = (size, size) if isinstance(size, int) else size
    if min(height, width) < 1:
        raise ValueError(f"size={size}: at least 1 pixel")
    return height, width


def reduction(height: int, width: int, resized: tuple[int, int]) -> int:
    """Return the largest of 8, 4, 2 and 1 by which a part can be reduced and is not too small then.

    Decoding at 1/2 takes 0.75 of the time, and a quarter of the pixels is left to resize. The result of a
    photograph with much detail then differs by 2.3 of 255 on average, and by 40 at most.
    """
    fitting = (step for step in (8, 4, 2) if height >= resized[0] * step and width >= resized[1] * step)
    return next(fitting, 1)
