"""JPEG files through a `DataLoader`, with the random crops of torchvision v2, on tensors and with Pillow."""

from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

import torch

from tests.bench.loading.peer import (
    Batch,
    Peer,
    Samples,
    decode,
    make_dataloader,
    open_with_pillow,
    random_crop,
)
from tests.bench.loading.peers.course.files import write


def batches(
    decoder: Callable[[bytes], object], to_float: bool, folder: Path, cores: int, batch_size: int
) -> Iterable[Batch]:
    paths, crop = sorted(folder.iterdir()), random_crop(to_float)

    def cropped(data: bytes) -> torch.Tensor:
        return crop(decoder(data))

    return make_dataloader(
        Samples(len(paths), lambda i: (paths[i].read_bytes(), i), cropped), cores, batch_size
    )


PEERS = {
    f"DataLoader, {kind}, crops{', float' * to_float}": Peer(
        decoder,
        write,
        partial(batches, function, to_float),
        output="float32" if to_float else "uint8",
        work=("crops",),
    )
    for kind, decoder, function in (
        ("v2 on tensors", "TorchCodec", decode),
        ("v2 with Pillow", "Pillow", open_with_pillow),
    )
    for to_float in (False, True)
}
