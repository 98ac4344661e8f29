"""SPDL: a pipeline of threads over JPEG files."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import torch

from tests.bench.loading.peer import Batch, Peer, Reiterable, decode
from tests.bench.loading.peers.course.files import write


def batches(folder: Path, cores: int, batch_size: int) -> Iterable[Batch]:
    return epochs(folder, cores, batch_size, decode)


def epochs(
    folder: Path, cores: int, batch_size: int, decoder: Callable[[bytes], torch.Tensor]
) -> Iterable[Batch]:
    """Return the epochs of a pipeline with this decoder."""
    from spdl.pipeline import PipelineBuilder

    paths = sorted(folder.iterdir())

    def sample(i: int) -> tuple[torch.Tensor, int]:
        return decoder(paths[i].read_bytes()), i

    def collate(samples: list) -> Batch:
        images, labels = zip(*samples, strict=True)
        return torch.stack(images), torch.tensor(labels)

    def epoch() -> Iterator[Batch]:
        builder = PipelineBuilder().add_source(range(len(paths))).pipe(sample, concurrency=cores)
        pipeline = builder.aggregate(batch_size).pipe(collate).add_sink(3).build(num_threads=cores)
        with pipeline.auto_stop():
            yield from pipeline

    return Reiterable(epoch)


PEERS = {"SPDL, TorchCodec": Peer("TorchCodec", write, batches)}
