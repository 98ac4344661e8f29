"""Random resized crops, with the same distribution as torchvision's.

Parameters are drawn for a whole batch at once, before the sizes of its images are known.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from course_utils.cropping.crops import Size, height_and_width, reduction
from course_utils.cropping.cut import Cut
from course_utils.cropping.philox import uniforms

TRIES = 10  # as many as torchvision's


class Drawn(NamedTuple):
    """Random parameters of one sample, relative to the size of its image."""

    widths: list[float]  # of the tries, per square root of the image's area
    heights: list[float]
    top: float  # from 0 to 1, as are the following
    left: float
    is_flipped: bool


@dataclass(frozen=True)
class RandomResizedCrop:
    """A random part of the image, resized with antialiasing, and flipped horizontally at random.

    Args:
        size: Height and width of the result, or one number for both.
        scale: Smallest and largest part of the image's area.
        ratio: Smallest and largest width per height.
        flip: Probability that an image is flipped.
        draft: Decode large parts at 1/2, 1/4 or 1/8 of their size, as long as that is not below the result.
            Their edges are rounded to as many pixels, and pixels differ: see `reduction`.

    Raises:
        ValueError: A range is empty or not positive, or a number is out of range.
    """

    size: Size
    scale: tuple[float, float] = (0.08, 1.0)
    ratio: tuple[float, float] = (3 / 4, 4 / 3)
    flip: float = 0.5
    draft: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", self.shape)  # so that equal crops have one repr
        for name, (low, high) in {"scale": self.scale, "ratio": self.ratio}.items():
            if not 0 < low <= high:
                raise ValueError(f"{name}=({low}, {high}): two positive numbers, the smaller one first")
        if not 0 <= self.flip <= 1:
            raise ValueError(f"flip={self.flip}: a probability from 0 to 1")

    @property
    def shape(self) -> tuple[int, int]:
        """Height and width of the result."""
        return height_and_width(self.size)

    def draw(self, seed: int, epoch: int, samples: np.ndarray) -> list[Drawn]:
        """Return the random parameters of each sample: the same ones whenever they are drawn."""
        numbers = uniforms(seed, epoch, samples, 3 + 2 * TRIES)
        (smallest, largest), (low, high) = self.scale, np.log(self.ratio)
        side = np.sqrt(smallest + numbers[:, 3 : 3 + TRIES] * (largest - smallest))
        stretch = np.exp((low + numbers[:, 3 + TRIES :] * (high - low)) / 2)
        columns = side * stretch, side / stretch, numbers[:, 0], numbers[:, 1], numbers[:, 2] < self.flip
        return list(map(Drawn._make, zip(*(column.tolist() for column in columns), strict=True)))

    def cut(self, height: int, width: int, drawn: Drawn) -> Cut:
        """Return what is cut out of an image of this size."""
        top, left, h, w = self._box(height, width, drawn)
        step = reduction(h, w, self.shape) if self.draft else 1
        top, left, h, w = (side // step * step for side in (top, left, h, w))
        return Cut(top, left, h, w, self.shape, (0, 0), drawn.is_flipped, step)

    def _box(self, height: int, width: int, drawn: Drawn) -> tuple[int, int, int, int]:
        side = math.sqrt(height * width)
        for relative_width, relative_height in zip(drawn.widths, drawn.heights, strict=True):
            w, h = round(side * relative_width), round(side * relative_height)
            if 0 < w <= width and 0 < h <= height:
                return int(drawn.top * (height - h + 1)), int(drawn.left * (width - w + 1)), h, w
        # None of the tries fits: as much of the centre as the ratio allows.
        w = min(width, max(1, round(height * self.ratio[1])))
        h = min(height, max(1, round(width / self.ratio[0])))
        return (height - h) // 2, (width - w) // 2, h, w
