"""An upper bound for crops: decoding only the rows and columns of each, from bytes in memory."""

import itertools
from collections.abc import Callable
from functools import cached_property, partial
from typing import TYPE_CHECKING

import numpy as np

from tests.bench.loading.peer import Peer
from tests.bench.loading.peers.course.limit import Limit, write

if TYPE_CHECKING:
    from course_utils.cropping import Cut

DRAWS = 4096


class NeededParts:
    """Decodes a random part of an image, drawn as torchvision does, and resizes nothing."""

    @cached_property
    def crop(self) -> Callable[[int, int], "Cut"]:
        """Return what to cut out of the next image; drawn before, because that is no part of the limit."""
        from course_utils.cropping import RandomResizedCrop

        crop = RandomResizedCrop(1)
        draws = itertools.cycle(crop.draw(0, 0, np.arange(DRAWS)))
        return lambda height, width: crop.cut(height, width, next(draws))

    def __call__(self, data: bytes) -> object:
        from simplejpeg import decode_jpeg_header

        from course_utils.cropping.regions import decode_region

        height, width, *_ = decode_jpeg_header(data)
        cut = self.crop(height, width)
        return decode_region(memoryview(data), cut.rows, cut.columns)


PEERS = {
    "limit: what crops need": Peer(
        "simplejpeg", write, partial(Limit, NeededParts()), limit=True, work=("crops",)
    )
}
