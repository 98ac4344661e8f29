"""Random crops of a dozen photographs; each is determined by the seed and its position alone."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import ClassVar, Self

import numpy as np
from PIL import Image

from data_setup.create.render import Rendered
from data_setup.format.layout import FORMS, SIDE
from data_setup.format.manifest import Identity
from data_setup.sources.photo_catalogue import PHOTOGRAPHS, SUBJECTS, Photograph, photo_identity

Box = tuple[int, int, int, int]


@dataclass(frozen=True)
class PhotoSource:
    """The photographs as a source of images; an item is the position of an image in the set.

    Args:
        count: Number of images.
        seed: Seed of the random crops.
    """

    count: int
    seed: int

    forms: ClassVar[tuple[str, ...]] = FORMS

    def identity(self) -> Identity:
        """Return what determines every byte of the images."""
        return photo_identity(self.count, self.seed)

    def renderer(self) -> Self:
        """Return itself, after loading the photographs, which forked workers then share."""
        for label in range(len(PHOTOGRAPHS)):
            load_photograph(label)
        return self

    def origin(self, item: int) -> None:
        """Return None: a crop has no file of its own in the source."""

    def classes(self) -> list[str]:
        """Return the name of each label."""
        return list(SUBJECTS)

    def items(self, slots: range) -> list[int]:
        """Return the items at these positions."""
        return list(slots)

    def reserve(self, shard: int, shards: int) -> Iterator[int]:
        """Return no replacements: no image is unreadable."""
        return iter(())

    def render(self, item: int) -> Rendered:
        """Crop one image."""
        label = label_at(self.seed, item)
        rng = np.random.default_rng([self.seed, 1, item])
        photograph = load_photograph(label)
        box = draw_crop(PHOTOGRAPHS[label], photograph.size, rng)
        image = photograph.resize((SIDE, SIDE), Image.Resampling.BICUBIC, box=box, reducing_gap=2.0)
        if rng.random() < 0.5:
            image = image.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
        return Rendered(image, label)


def label_at(seed: int, slot: int) -> int:
    """Return the label at a position; each run of as many positions as classes is a permutation of them."""
    turn, position = divmod(slot, len(PHOTOGRAPHS))
    return int(np.random.default_rng([seed, 0, turn]).permutation(len(PHOTOGRAPHS))[position])


def draw_crop(photograph: Photograph, size: tuple[int, int], rng: np.random.Generator) -> Box:
    """Draw a random square that contains the part of a photograph that must be kept.

    Args:
        photograph: Which one.
        size: Its width and height, in pixels.
        rng: The random generator; it is advanced.

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
def load_photograph(label: int) -> Image.Image:
    """Decode a photograph as RGB; each process does so once per photograph."""
    with Image.open(PHOTOGRAPHS[label].path()) as photograph:
        return photograph.convert("RGB")
