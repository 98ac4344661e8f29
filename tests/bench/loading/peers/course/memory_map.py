"""A memory-mapped file of decoded pixels."""

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import torch

from tests.bench.loading.peer import Batch, Peer, Samples, make_dataloader


def write(images: list[bytes], folder: Path) -> None:
    from simplejpeg import decode_jpeg

    np.save(folder / "pixels.npy", np.stack([decode_jpeg(data) for data in images]))


def batches(folder: Path, cores: int, batch_size: int) -> Iterable[Batch]:
    pixels = np.asarray(np.load(folder / "pixels.npy", mmap_mode="c"))
    dataset = Samples(len(pixels), lambda i: (pixels[i], i), lambda p: torch.from_numpy(p).permute(2, 0, 1))
    return make_dataloader(dataset, cores, batch_size)


PEERS = {"memory map of pixels": Peer("pixels", write, batches)}
