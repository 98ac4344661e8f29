"""NVIDIA DALI on the CPU, over JPEG files."""

from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import torch

from tests.bench.loading.peer import MEAN, STD, Batch, Peer, Reiterable
from tests.bench.loading.peers.course.files import write

if TYPE_CHECKING:
    from nvidia.dali import Pipeline


def batches(to_float: bool, folder: Path, cores: int, batch_size: int) -> Iterable[Batch]:
    from nvidia.dali import fn, pipeline_def

    files = [str(path) for path in sorted(folder.iterdir())]

    @pipeline_def(batch_size=batch_size, num_threads=cores, device_id=None, prefetch_queue_depth=3)
    def pipeline() -> tuple:
        data, labels = fn.readers.file(files=files, labels=list(range(len(files))), pad_last_batch=True)
        images = fn.decoders.image(data, device="cpu")
        if to_float:
            mean, std = ([255 * value for value in values] for values in (MEAN, STD))
            mirror = fn.random.coin_flip()
            images = fn.crop_mirror_normalize(images, mirror=mirror, mean=mean, std=std, output_layout="HWC")
        return images, labels

    return epochs(pipeline(), len(files), batch_size)


def epochs(running: "Pipeline", images: int, batch_size: int) -> Iterable[Batch]:
    """Return the epochs of a pipeline with images and labels."""
    running.build()

    def epoch() -> Iterator[Batch]:
        for first in range(0, images, batch_size):
            pixels, labels = (torch.from_numpy(part.as_array()) for part in running.run())
            count = min(batch_size, images - first)
            yield pixels[:count].permute(0, 3, 1, 2), labels[:count, 0]

    return Reiterable(epoch)


PEERS = {
    "DALI, CPU": Peer("own", write, partial(batches, False), work=("images", "delayed")),
    "DALI, CPU, float": Peer("own", write, partial(batches, True), output="float32"),
}
