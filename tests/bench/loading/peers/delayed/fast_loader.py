"""The course's `FastLoader` in a random order, with and without reading ahead."""

from collections.abc import Iterable
from functools import partial
from pathlib import Path

from tests.bench.loading.peer import Batch, Peer
from tests.bench.loading.peers.course.fast_loader import write


def batches(ahead: bool, folder: Path, cores: int, batch_size: int) -> Iterable[Batch]:
    from course_utils.loading import FastLoader, batch_decoder

    if not ahead:
        batch_decoder.read_ahead = lambda fd, offsets, sizes: None
    return FastLoader(folder / "part0.zip", batch_size, threads=cores, shuffle=True)


PEERS = {
    f"FastLoader, shuffled{name}": Peer("simplejpeg", write, partial(batches, ahead), work=("delayed",))
    for name, ahead in {"": True, ", without reading ahead": False}.items()
}
