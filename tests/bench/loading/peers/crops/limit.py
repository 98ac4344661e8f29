"""Upper bounds for crops, from bytes in memory: decoding what each needs, and resizing that, too."""

import itertools
from collections.abc import Callable, Iterator
from functools import cached_property, partial
from typing import TYPE_CHECKING

import numpy as np

from tests.bench.loading.peer import Peer
from tests.bench.loading.peers.course.limit import Limit, write

if TYPE_CHECKING:
    from course_utils.cropping import Cut

DRAWS, SIZE, BATCH = 4096, 224, 64


class NeededParts:
    """Decodes a random part of an image, drawn as torchvision does, and resizes nothing."""

    size = 1

    @cached_property
    def crop(self) -> Callable[[int, int], "Cut"]:
        """Return what to cut out of the next image; drawn before, because that is no part of the limit."""
        from course_utils.cropping import RandomResizedCrop

        crop = RandomResizedCrop(self.size)
        draws = itertools.cycle(crop.draw(0, 0, np.arange(DRAWS)))
        return lambda height, width: crop.cut(height, width, next(draws))

    def __call__(self, data: bytes) -> object:
        from simplejpeg import decode_jpeg_header

        from course_utils.cropping.regions import decode_region

        height, width, *_ = decode_jpeg_header(data)
        cut = self.crop(height, width)
        return self.finished(decode_region(memoryview(data), cut.rows, cut.columns), cut)

    def finished(self, part: np.ndarray, cut: "Cut") -> object:
        """Return what becomes of a part."""
        return part


class ResizedParts(NeededParts):
    """Decodes a random part of an image, and resizes it with antialiasing into a batch that is reused."""

    size = SIZE

    @cached_property
    def places(self) -> Iterator[np.ndarray]:
        """The images of a batch, again and again."""
        return itertools.cycle(np.zeros((BATCH, SIZE, SIZE, 3), np.uint8))

    def finished(self, part: np.ndarray, cut: "Cut") -> object:
        """Resize the part, and flip it."""
        from course_utils.cropping import resize_into

        resize_into(part, cut, place := next(self.places))
        return place


def _limit(decoder: NeededParts) -> Peer:
    return Peer("simplejpeg", write, partial(Limit, decoder), limit=True, work=("crops",))


PEERS = {
    "limit: crops alone": _limit(ResizedParts()),
    "limit: what crops need": _limit(NeededParts()),
}
