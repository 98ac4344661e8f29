"""FFCV: the same JPEG bytes in its own format, decoded and cropped by its own decoder."""

from collections.abc import Iterable
from functools import partial
from pathlib import Path

import numpy as np

from tests.bench.loading.peer import CROP_SIDE, MEAN, STD, Batch, Peer
from tests.bench.loading.peers.libraries.ffcv_ import CACHES, epochs, write


def batches(os_cache: bool, to_float: bool, folder: Path, cores: int, batch_size: int) -> Iterable[Batch]:
    from ffcv.fields.rgb_image import RandomResizedCropRGBImageDecoder
    from ffcv.transforms import NormalizeImage, RandomHorizontalFlip, ToTensor

    steps = [RandomResizedCropRGBImageDecoder((CROP_SIDE, CROP_SIDE)), RandomHorizontalFlip()]
    if to_float:
        mean, std = (255 * np.array(values) for values in (MEAN, STD))
        steps.append(NormalizeImage(mean, std, np.float32))
    return epochs(folder, cores, batch_size, [*steps, ToTensor()], os_cache)


PEERS = {
    f"FFCV{cache}, crops{', float' * to_float}": Peer(
        "own",
        write,
        partial(batches, os_cache, to_float),
        output="float32" if to_float else "uint8",
        fast_dct=True,
        work=("crops",),
    )
    for cache, os_cache in CACHES.items()
    for to_float in (False, True)
    if os_cache or not to_float  # compiling takes longer than measuring
}
