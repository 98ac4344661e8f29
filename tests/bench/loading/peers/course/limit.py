"""An upper bound for every loader: a decoder alone, over bytes in memory, in one process per core.

A decoder that always writes to the same buffer stays in the core's own cache. A batch does not fit there, so
simplejpeg has a second limit: decoding into the images of one batch, which is reused. A third one also reads
each image from a pack and compares its checksum: what `FastLoader` adds to that is what it costs itself.
"""

import multiprocessing
import pickle
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np

from tests.bench.loading.peer import Peer, decode, decode_with_pillow
from tests.bench.loading.peers.course.fast_loader import write_pack


def decode_with_simplejpeg(data: bytes) -> object:
    from simplejpeg import decode_jpeg

    return decode_jpeg(data)


def write(images: list[bytes], folder: Path) -> None:
    (folder / "images.pickle").write_bytes(pickle.dumps(images))


class Limit:
    """Decodes all images once per epoch and yields only their number."""

    def __init__(self, decoder: Callable[[bytes], object], folder: Path, cores: int, batch_size: int) -> None:
        self.decoder, self.cores = decoder, cores
        self.images = pickle.loads((folder / "images.pickle").read_bytes())
        self.pool = multiprocessing.get_context("fork").Pool(cores, self._start_worker)

    def _start_worker(self) -> None:
        global decode_share
        decode_share = self._decode_share

    def _decode_share(self, first: int) -> None:
        for data in self.images[first :: self.cores]:
            self.decoder(data)

    def __iter__(self) -> Iterator[tuple[range, range]]:
        self.pool.map(run_share, range(self.cores), chunksize=1)
        yield range(len(self.images)), range(len(self.images))


class LimitIntoBatches(Limit):
    """Decodes with simplejpeg into a batch that each process reuses."""

    def __init__(self, folder: Path, cores: int, batch_size: int) -> None:
        self.batch_size = batch_size
        super().__init__(decode_with_simplejpeg, folder, cores, batch_size)

    def _start_worker(self) -> None:
        shape = np.shape(self.decoder(self.images[0]))
        self.batch = np.zeros((self.batch_size, *shape), np.uint8)
        super()._start_worker()

    def _decode_share(self, first: int) -> None:
        from simplejpeg import decode_jpeg

        for i, data in enumerate(self.images[first :: self.cores]):
            decode_jpeg(data, buffer=self.batch[i % self.batch_size])


def write_both(images: list[bytes], folder: Path) -> None:
    write(images, folder)
    write_pack(folder / PACK, images)


class LimitFromPack(LimitIntoBatches):
    """Reads each image from a pack, compares its checksum, and decodes it into a batch."""

    def __init__(self, folder: Path, cores: int, batch_size: int) -> None:
        from course_utils.data import PackedImages

        self.packed = PackedImages(folder / PACK)
        super().__init__(folder, cores, batch_size)

    def _decode_share(self, first: int) -> None:
        for i, number in enumerate(range(first, len(self.packed), self.cores)):
            self.packed.read_into(number, self.batch[i % self.batch_size])


def run_share(first: int) -> None:
    decode_share(first)


PACK = "part0.zip"
DECODERS = {"simplejpeg": decode_with_simplejpeg, "TorchCodec": decode, "Pillow": decode_with_pillow}
WORK = ("images", "crops", "delayed")
PEERS = {
    f"limit: {name} alone": Peer(name, write, partial(Limit, decoder), limit=True, work=WORK)
    for name, decoder in DECODERS.items()
} | {
    "limit: simplejpeg into batches": Peer(
        "simplejpeg", write, LimitIntoBatches, limit=True, work=("images", "delayed")
    ),
    "limit: simplejpeg from a pack": Peer("simplejpeg", write_both, LimitFromPack, limit=True),
}
