"""Grain: ArrayRecord, read and decoded by threads."""

from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
import torch

from tests.bench.loading.peer import Batch, Peer, Reiterable, decode


def write(images: list[bytes], folder: Path) -> None:
    from array_record.python.array_record_module import ArrayRecordWriter

    writer = ArrayRecordWriter(str(folder / "images.array_record"), "group_size:1")
    for i, data in enumerate(images):
        writer.write(i.to_bytes(8, "little") + data)
    writer.close()


def collate(samples: list) -> Batch:
    images, labels = zip(*samples, strict=True)
    return torch.stack(images), torch.from_numpy(np.array(labels))


def batches(folder: Path, cores: int, batch_size: int) -> Iterable[Batch]:
    return epochs(folder, cores, batch_size, decode)


def epochs(
    folder: Path, cores: int, batch_size: int, decoder: Callable[[memoryview], torch.Tensor]
) -> Iterable[Batch]:
    """Return the epochs of a data set with this decoder."""
    from grain import MapDataset, ReadOptions
    from grain.sources import ArrayRecordDataSource

    def sample(record: bytes) -> tuple[torch.Tensor, int]:
        return decoder(memoryview(record)[8:]), int.from_bytes(record[:8], "little")

    source = ArrayRecordDataSource([str(folder / "images.array_record")])
    options = ReadOptions(num_threads=cores, prefetch_buffer_size=4 * batch_size)
    dataset = (
        MapDataset.source(source).map(sample).to_iter_dataset(options).batch(batch_size, batch_fn=collate)
    )
    return Reiterable(lambda: iter(dataset))


PEERS = {"Grain": Peer("TorchCodec", write, batches)}
