"""Any number of different pictures from a dozen photographs; each follows from the seed and its position."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Self

import numpy as np
from PIL import Image

from data_setup.create import Rendered
from data_setup.format import SIDE
from data_setup.sources.photographs import PHOTOGRAPHS, SUBJECTS, Photograph, photo_identity

Box = tuple[int, int, int, int]


@dataclass(frozen=True)
class PhotoSource:
    """The photographs as a source of images.

    Args:
        count: How many images.
        seed: Which ones.
    """

    count: int
    seed: int

    def identity(self) -> dict[str, object]:
        """What decides every byte of the set."""
        return photo_identity(self.count, self.seed)

    def renderer(self) -> Self:
        """What is sent to the workers: itself, two numbers. Forked ones share the photographs opened here."""
        for label in range(len(PHOTOGRAPHS)):
            opened(label)
        return self

    def origin(self, item: int) -> None:
        """The pictures have no file of their own in the source."""

    def classes(self) -> list[str]:
        """The name of each label."""
        return list(SUBJECTS)

    def items(self, slots: range) -> list[int]:
        """What `render` needs for each position."""
        return list(slots)

    def reserve(self, shard: int, shards: int) -> Iterator[int]:
        """Nothing takes the place of an unreadable image: there are none."""
        return iter(())

    def render(self, item: int) -> Rendered:
        """Cut one picture."""
        label = label_at(self.seed, item)
        rng = np.random.default_rng([self.seed, 1, item])
        photo = opened(label)
        box = draw_crop(PHOTOGRAPHS[label], photo.size, rng)
        picture = photo.resize((SIDE, SIDE), Image.Resampling.BICUBIC, box=box, reducing_gap=2.0)
        if rng.random() < 0.5:
            picture = picture.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
        return Rendered(picture, label)


def label_at(seed: int, slot: int) -> int:
    """Draw labels in shuffled rounds of all classes, so that any two classes are equally frequent."""
    turn, position = divmod(slot, len(PHOTOGRAPHS))
    return int(np.random.default_rng([seed, 0, turn]).permutation(len(PHOTOGRAPHS))[position])


def draw_crop(photograph: Photograph, size: tuple[int, int], rng: np.random.Generator) -> Box:
    """Draw a square that contains what makes the photograph recognisable.

    Args:
        photograph: Which one.
        size: Its width and height, in pixels.
        rng: Where the randomness comes from.

    Returns:
        Left, top, right and bottom, in pixels.
    """
    side = int(rng.integers(photograph.smallest, min(size) + 1))
    left, top, right, bottom = photograph.keep or (*size, 0, 0)
    x = _draw_start(right - side, left, size[0] - side, rng)
    y = _draw_start(bottom - side, top, size[1] - side, rng)
    return x, y, x + side, y + side


def _draw_start(lowest: int, highest: int, room: int, rng: np.random.Generator) -> int:
    return int(rng.integers(max(lowest, 0), min(highest, room) + 1))


@cache
def opened(label: int) -> Image.Image:
    """Decode a photograph, once a process."""
    with Image.open(PHOTOGRAPHS[label].path()) as photo:
        return photo.convert("RGB")
