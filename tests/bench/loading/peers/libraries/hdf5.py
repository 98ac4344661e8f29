"""HDF5: one variable-length row of bytes per image."""

import os
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from tests.bench.loading.peer import Batch, Peer, Samples, make_dataloader


def write(images: list[bytes], folder: Path) -> None:
    import h5py

    with h5py.File(folder / "images.h5", "w") as file:
        rows = file.create_dataset("images", (len(images),), h5py.vlen_dtype(np.uint8))
        for i, data in enumerate(images):
            rows[i] = np.frombuffer(data, np.uint8)


def batches(folder: Path, cores: int, batch_size: int) -> Iterable[Batch]:
    import h5py

    opened = {}

    def read(i: int) -> tuple[np.ndarray, int]:
        if os.getpid() not in opened:
            opened[os.getpid()] = h5py.File(folder / "images.h5")["images"]
        return opened[os.getpid()][i], i

    with h5py.File(folder / "images.h5") as file:
        count = len(file["images"])
    return make_dataloader(Samples(count, read), cores, batch_size)


PEERS = {"HDF5": Peer("TorchCodec", write, batches)}
