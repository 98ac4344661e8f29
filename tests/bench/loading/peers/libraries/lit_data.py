"""LitData: chunks in its own format."""

from collections.abc import Iterable
from pathlib import Path

from tests.bench.loading.peer import Batch, Peer, decode, make_dataloader


def write(images: list[bytes], folder: Path) -> None:
    from litdata.streaming.cache import Cache

    cache = Cache(str(folder), chunk_bytes="16MB")
    for i, data in enumerate(images):
        cache[i] = {"image": data, "label": i}
    cache.done()
    cache.merge()


def batches(folder: Path, cores: int, batch_size: int) -> Iterable[Batch]:
    from litdata import StreamingDataLoader, StreamingDataset

    class Images(StreamingDataset):
        def __getitem__(self, i: int) -> tuple:
            sample = super().__getitem__(i)
            return decode(sample["image"]), sample["label"]

    return make_dataloader(Images(str(folder)), cores, batch_size, StreamingDataLoader)


PEERS = {"LitData": Peer("TorchCodec", write, batches)}
