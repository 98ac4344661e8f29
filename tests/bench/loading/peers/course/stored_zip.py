"""A stored zip through a `DataLoader`, with one `ZipFile` per worker, as at the end of lesson 02."""

import os
import zipfile
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

import numpy as np
import torch

from tests.bench.loading.peer import Batch, Peer, Samples, decode, decode_with_pillow, make_dataloader
from tests.bench.loading.peers.course.fast_loader import write, write_raw


class Members:
    """Reads members by index, through one handle per process."""

    def __init__(self, path: Path) -> None:
        self.path, self.handles = path, {}
        with zipfile.ZipFile(path) as zipped:
            self.names = [name for name in zipped.namelist() if name.endswith("JPEG")]

    def __call__(self, i: int) -> tuple[bytes, int]:
        pid = os.getpid()
        if pid not in self.handles:
            self.handles[pid] = zipfile.ZipFile(self.path)
        return self.handles[pid].read(self.names[i]), i


def pixels(data: bytes) -> torch.Tensor:
    side = int((len(data) // 3) ** 0.5)
    return torch.from_numpy(np.frombuffer(data, np.uint8).copy()).view(side, side, 3).permute(2, 0, 1)


def batches(
    decoder: Callable[[bytes], torch.Tensor], to_float: bool, folder: Path, cores: int, batch_size: int
) -> Iterable[Batch]:
    members = Members(folder / "part0.zip")
    return make_dataloader(Samples(len(members.names), members, decoder, to_float), cores, batch_size)


PEERS = {
    "stored zip, TorchCodec": Peer("TorchCodec", write, partial(batches, decode, False)),
    "stored zip, Pillow": Peer("Pillow", write, partial(batches, decode_with_pillow, False)),
    "stored zip, raw": Peer("pixels", write_raw, partial(batches, pixels, False)),
    "stored zip, TorchCodec, float": Peer(
        "TorchCodec", write, partial(batches, decode, True), output="float32"
    ),
}
