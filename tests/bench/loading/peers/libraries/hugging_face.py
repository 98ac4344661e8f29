"""Hugging Face datasets: an Arrow table on disk."""

from collections.abc import Iterable
from pathlib import Path

from tests.bench.loading.peer import Batch, Peer, Samples, make_dataloader


def write(images: list[bytes], folder: Path) -> None:
    from datasets import Dataset, disable_progress_bars

    disable_progress_bars()
    Dataset.from_dict({"image": images, "label": list(range(len(images)))}).save_to_disk(folder)


def batches(folder: Path, cores: int, batch_size: int) -> Iterable[Batch]:
    from datasets import load_from_disk

    table = load_from_disk(folder)
    return make_dataloader(Samples(len(table), lambda i: tuple(table[i].values())), cores, batch_size)


PEERS = {"Hugging Face": Peer("TorchCodec", write, batches)}
