"""An upper bound for crops: decoding only the rows and columns of each, from bytes in memory."""

from functools import partial

import numpy as np

from tests.bench.loading.peer import Peer
from tests.bench.loading.peers.course.limit import Limit, write


class NeededParts:
    """Decodes a random part of an image, drawn as torchvision does, and resizes nothing."""

    def __init__(self) -> None:
        self.rng = np.random.default_rng(0)

    def __call__(self, data: bytes) -> object:
        from simplejpeg import decode_jpeg_header

        from course_utils.cropping import RandomResizedCrop
        from course_utils.cropping.regions import decode_region

        height, width, *_ = decode_jpeg_header(data)
        crop = RandomResizedCrop(1)
        cut = crop.cut(height, width, crop.draw(int(self.rng.integers(2**31)), 0, np.arange(1))[0])
        return decode_region(memoryview(data), cut.rows, cut.columns)


PEERS = {
    "limit: what crops need": Peer(
        "simplejpeg", write, partial(Limit, NeededParts()), limit=True, work=("crops",)
    )
}
