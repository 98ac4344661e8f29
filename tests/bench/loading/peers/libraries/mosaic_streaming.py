"""MosaicML Streaming: MDS shards."""

from collections.abc import Iterable
from pathlib import Path

from tests.bench.loading.peer import Batch, Peer, decode, make_dataloader


def write(images: list[bytes], folder: Path) -> None:
    from streaming import MDSWriter

    with MDSWriter(out=str(folder), columns={"image": "bytes", "label": "int"}, size_limit="16mb") as writer:
        for i, data in enumerate(images):
            writer.write({"image": data, "label": i})


def batches(folder: Path, cores: int, batch_size: int) -> Iterable[Batch]:
    from streaming import StreamingDataset
    from streaming.base.util import clean_stale_shared_memory

    class Images(StreamingDataset):
        def __getitem__(self, i: int) -> tuple:
            sample = super().__getitem__(i)
            return decode(sample["image"]), sample["label"]

    clean_stale_shared_memory()
    return make_dataloader(Images(local=str(folder), batch_size=batch_size, shuffle=False), cores, batch_size)


PEERS = {"Streaming (MDS)": Peer("TorchCodec", write, batches)}
