"""FFCV in a random order; with its own cache, a few parts of the file at a time."""

from collections.abc import Iterable
from functools import partial
from pathlib import Path

from tests.bench.loading.peer import Batch, Peer
from tests.bench.loading.peers.libraries.ffcv_ import CACHES, batches, write


def shuffled(os_cache: bool, folder: Path, cores: int, batch_size: int) -> Iterable[Batch]:
    return batches(os_cache, folder, cores, batch_size, "RANDOM" if os_cache else "QUASI_RANDOM")


PEERS = {
    f"FFCV{cache}, shuffled": Peer(
        "own", write, partial(shuffled, os_cache), fast_dct=True, work=("delayed",)
    )
    for cache, os_cache in CACHES.items()
}
