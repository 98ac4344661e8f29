"""WebDataset: tar shards, read sequentially."""

import io
import tarfile
from collections.abc import Iterable
from pathlib import Path

from tests.bench.loading.peer import Batch, Peer, decode, make_dataloader

SHARDS = 8


def write(images: list[bytes], folder: Path) -> None:
    for shard in range(SHARDS):
        with tarfile.open(folder / f"{shard}.tar", "w") as tar:
            for i in range(shard, len(images), SHARDS):
                for name, data in ((f"{i:08d}.jpg", images[i]), (f"{i:08d}.cls", b"%d" % i)):
                    member = tarfile.TarInfo(name)
                    member.size = len(data)
                    tar.addfile(member, io.BytesIO(data))


def batches(folder: Path, cores: int, batch_size: int) -> Iterable[Batch]:
    import webdataset

    shards = [str(path) for path in sorted(folder.glob("*.tar"))]
    dataset = webdataset.WebDataset(shards, shardshuffle=False).to_tuple("jpg", "cls").map_tuple(decode, int)
    return make_dataloader(dataset.batched(batch_size, partial=True), cores, None, webdataset.WebLoader)


PEERS = {"WebDataset": Peer("TorchCodec", write, batches, work=("images", "delayed"))}
