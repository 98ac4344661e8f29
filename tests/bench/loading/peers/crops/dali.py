"""NVIDIA DALI on the CPU, which decodes and crops in one step."""

from collections.abc import Iterable
from functools import partial
from pathlib import Path

from tests.bench.loading.peer import CROP_SIDE, MEAN, STD, Batch, Peer
from tests.bench.loading.peers.course.files import write
from tests.bench.loading.peers.libraries.dali import epochs


def batches(to_float: bool, folder: Path, cores: int, batch_size: int) -> Iterable[Batch]:
    from nvidia.dali import fn, pipeline_def, types

    files = [str(path) for path in sorted(folder.iterdir())]

    @pipeline_def(batch_size=batch_size, num_threads=cores, device_id=None, prefetch_queue_depth=3)
    def pipeline() -> tuple:
        data, labels = fn.readers.file(files=files, labels=list(range(len(files))), pad_last_batch=True)
        images = fn.decoders.image_random_crop(
            data, device="cpu", random_area=[0.08, 1.0], random_aspect_ratio=[3 / 4, 4 / 3], num_attempts=10
        )
        images = fn.resize(images, size=[CROP_SIDE, CROP_SIDE], interp_type=types.INTERP_LINEAR)
        mirror = fn.random.coin_flip()
        if not to_float:
            return fn.flip(images, horizontal=mirror), labels
        mean, std = ([255 * value for value in values] for values in (MEAN, STD))
        images = fn.crop_mirror_normalize(images, mirror=mirror, mean=mean, std=std, output_layout="HWC")
        return images, labels

    return epochs(pipeline(), len(files), batch_size)


PEERS = {
    "DALI, CPU, crops": Peer("own", write, partial(batches, False), work=("crops",)),
    "DALI, CPU, crops, float": Peer("own", write, partial(batches, True), output="float32", work=("crops",)),
}
