"""The course's `FastLoader` with random crops, over a pack of JPEG files."""

from collections.abc import Iterable
from functools import partial
from pathlib import Path

from tests.bench.loading.peer import CROP_SIDE, Batch, Peer
from tests.bench.loading.peers.course.fast_loader import write


def batches(to_float: bool, folder: Path, cores: int, batch_size: int) -> Iterable[Batch]:
    from course_utils.cropping import RandomResizedCrop
    from course_utils.loading import FastLoader, FlipAndNormalize

    transform = FlipAndNormalize(flip=0) if to_float else None
    crop = RandomResizedCrop(CROP_SIDE)
    return FastLoader(folder / "part0.zip", batch_size, crop=crop, threads=cores, transform=transform)


PEERS = {
    "FastLoader, crops": Peer("simplejpeg", write, partial(batches, False), work=("crops",)),
    "FastLoader, crops, float": Peer(
        "simplejpeg", write, partial(batches, True), output="float32", work=("crops",)
    ),
}
