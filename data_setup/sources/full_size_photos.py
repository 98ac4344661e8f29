"""Large crops of the photographs in mixed sizes around 500x375, as in ImageNet before it is resized."""

from typing import ClassVar

import numpy as np
from PIL import Image

from data_setup.create.render import Rendered
from data_setup.format.layout import ENCODED
from data_setup.format.manifest import Identity
from data_setup.sources.photo_source import PhotoSource, label_at, load_photograph

SHORTEST, LONGEST = 400, 600  # pixels of the longer side
RATIOS = (4 / 3, 3 / 2, 1.0, 3 / 4, 2 / 3)  # width over height
SHARES = (0.5, 0.2, 0.1, 0.15, 0.05)
LEAST_PART = 0.8  # of the largest possible crop, by its sides

Size = tuple[int, int]


class FullSizePhotos(PhotoSource):
    """Images of mixed sizes, packed as JPEG files only; seed and position alone determine each."""

    forms: ClassVar[tuple[str, ...]] = (ENCODED,)

    def identity(self) -> Identity:
        """Return what determines every byte of the images."""
        return {"source": "full-size photographs", "seed": self.seed, "count": self.count}

    def render(self, item: int) -> Rendered:
        """Crop one image."""
        label = label_at(self.seed, item)
        rng = np.random.default_rng([self.seed, 2, item])
        photograph, size = load_photograph(label), draw_size(rng)
        box = draw_box(photograph.size, size, rng)
        image = photograph.resize(size, Image.Resampling.BICUBIC, box=box, reducing_gap=2.0)
        if rng.random() < 0.5:
            image = image.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
        return Rendered(image, label)


def draw_size(rng: np.random.Generator) -> Size:
    """Draw width and height of an image in pixels."""
    ratio = float(rng.choice(RATIOS, p=SHARES))
    longer = int(rng.integers(SHORTEST, LONGEST + 1))
    return (longer, round(longer / ratio)) if ratio >= 1 else (round(longer * ratio), longer)


def draw_box(photograph: Size, size: Size, rng: np.random.Generator) -> tuple[float, float, float, float]:
    """Draw a large crop with the aspect ratio of an image.

    Args:
        photograph: Width and height of the photograph in pixels.
        size: Width and height of the image.
        rng: The random generator; it is advanced.

    Returns:
        Left, top, right and bottom, in pixels.
    """
    scale = min(photograph[0] / size[0], photograph[1] / size[1]) * rng.uniform(LEAST_PART, 1)
    width, height = scale * size[0], scale * size[1]
    left, top = rng.uniform(0, photograph[0] - width), rng.uniform(0, photograph[1] - height)
    return left, top, min(left + width, photograph[0]), min(top + height, photograph[1])
