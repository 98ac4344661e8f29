"""SPDL and Grain: threads that decode with TorchCodec and crop with torchvision v2."""

from collections.abc import Iterable
from functools import partial
from pathlib import Path

from tests.bench.loading.peer import Batch, Peer, decode, random_crop
from tests.bench.loading.peers.course.files import write
from tests.bench.loading.peers.libraries import grain_, spdl_


def with_spdl(to_float: bool, folder: Path, cores: int, batch_size: int) -> Iterable[Batch]:
    crop = random_crop(to_float)
    return spdl_.epochs(folder, cores, batch_size, lambda data: crop(decode(data)))


def with_grain(to_float: bool, folder: Path, cores: int, batch_size: int) -> Iterable[Batch]:
    crop = random_crop(to_float)
    return grain_.epochs(folder, cores, batch_size, lambda data: crop(decode(data)))


PEERS = {
    f"{name}, crops{', float' * to_float}": Peer(
        "TorchCodec",
        writer,
        partial(batches, to_float),
        output="float32" if to_float else "uint8",
        work=("crops",),
    )
    for name, writer, batches in (("SPDL", write, with_spdl), ("Grain", grain_.write, with_grain))
    for to_float in (False, True)
}
