"""LMDB: one entry per image."""

import os
from collections.abc import Iterable
from pathlib import Path

from tests.bench.loading.peer import Batch, Peer, Samples, make_dataloader


def write(images: list[bytes], folder: Path) -> None:
    import lmdb

    with (
        lmdb.open(str(folder), map_size=1 << 36) as environment,
        environment.begin(write=True) as transaction,
    ):
        for i, data in enumerate(images):
            transaction.put(b"%08d" % i, data)


def batches(folder: Path, cores: int, batch_size: int) -> Iterable[Batch]:
    import lmdb

    opened = {}

    def read(i: int) -> tuple[memoryview, int]:
        if os.getpid() not in opened:
            environment = lmdb.open(str(folder), readonly=True, lock=False, readahead=False)
            opened[os.getpid()] = environment.begin(buffers=True)
        return opened[os.getpid()].get(b"%08d" % i), i

    with lmdb.open(str(folder), readonly=True, lock=False) as environment:
        count = environment.stat()["entries"]
    return make_dataloader(Samples(count, read), cores, batch_size)


PEERS = {"LMDB": Peer("TorchCodec", write, batches)}
