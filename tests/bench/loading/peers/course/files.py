"""JPEG files through a `DataLoader`."""

from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

import torch

from tests.bench.loading.peer import Batch, Peer, Samples, decode, decode_with_pillow, make_dataloader


def write(images: list[bytes], folder: Path) -> None:
    for i, data in enumerate(images):
        (folder / f"img{i:08d}.JPEG").write_bytes(data)


def batches(
    decoder: Callable[[bytes], torch.Tensor], to_float: bool, folder: Path, cores: int, batch_size: int
) -> Iterable[Batch]:
    paths = sorted(folder.iterdir())
    return make_dataloader(
        Samples(len(paths), lambda i: (paths[i].read_bytes(), i), decoder, to_float), cores, batch_size
    )


PEERS = {
    "JPEG files, TorchCodec": Peer("TorchCodec", write, partial(batches, decode, False)),
    "JPEG files, Pillow": Peer("Pillow", write, partial(batches, decode_with_pillow, False)),
    "JPEG files, TorchCodec, float": Peer(
        "TorchCodec", write, partial(batches, decode, True), output="float32"
    ),
}
