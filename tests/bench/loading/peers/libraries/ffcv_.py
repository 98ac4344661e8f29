"""FFCV: a file in its own format that holds the same JPEG bytes."""

import shutil
import time
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path

import numpy as np

from tests.bench.loading.peer import Batch, Peer, Reiterable

DATA, COPY = "images.beton", "compiled.beton"
CACHES = {"": True, ", own cache": False}  # names, and whether the operating system caches


class Pixels:
    """Decoded images; `last` holds the encoded bytes of the image that was decoded last."""

    def __init__(self, images: list[bytes]) -> None:
        self.images = images

    def __len__(self) -> int:
        return len(self.images)

    def __getitem__(self, i: int) -> tuple[np.ndarray, int]:
        from simplejpeg import decode_jpeg

        self.last = np.frombuffer(self.images[i], np.uint8)
        return decode_jpeg(self.images[i]), i


def write(images: list[bytes], folder: Path) -> None:
    from ffcv.fields import IntField, RGBImageField, rgb_image
    from ffcv.writer import DatasetWriter

    pixels = Pixels(images)
    # FFCV would encode the pixels again: it gets the original bytes instead.
    rgb_image.encode_jpeg = lambda image, quality: pixels.last
    fields = {"image": RGBImageField(write_mode="jpg"), "label": IntField()}
    DatasetWriter(str(folder / DATA), fields, num_workers=1).from_indexed_dataset(pixels)
    shutil.copy(folder / DATA, folder / COPY)


def batches(
    os_cache: bool, folder: Path, cores: int, batch_size: int, order: str = "SEQUENTIAL"
) -> Iterable[Batch]:
    from ffcv.fields.decoders import SimpleRGBImageDecoder
    from ffcv.transforms import ToTensor

    return epochs(folder, cores, batch_size, [SimpleRGBImageDecoder(), ToTensor()], os_cache, order)


def epochs(
    folder: Path, cores: int, batch_size: int, steps: list, os_cache: bool, order: str = "SEQUENTIAL"
) -> Iterable[Batch]:
    """Return the epochs of a loader with these steps for images, which are compiled already.

    Args:
        folder: What `write` has written.
        cores: Number of threads.
        batch_size: Images per batch.
        steps: Decoder and transforms of the images.
        os_cache: Read through a memory map and the page cache; else by FFCV's own threads and cache.
        order: One of FFCV's `OrderOption`, by name.
    """
    from ffcv.fields.decoders import IntDecoder
    from ffcv.loader import Loader, OrderOption
    from ffcv.transforms import ToTensor

    decoders = {"image": steps, "label": [IntDecoder(), ToTensor()]}
    loader = Loader(
        str(folder / COPY),
        batch_size,
        cores,
        os_cache=os_cache,
        order=OrderOption[order],
        pipelines=decoders,
        drop_last=False,
    )
    start = time.perf_counter()
    for _ in loader:  # Numba compiles each step when it first runs
        pass
    compile_s = time.perf_counter() - start
    # From now on it reads the same data from the other file, of which nothing is in the page cache.
    loader.reader._fname = str(folder / DATA)

    def unmap() -> None:
        if os_cache:
            loader.memory_manager.context.mmap = None

    unmap()

    def epoch() -> Iterator[Batch]:
        for images, labels in loader:
            yield images.permute(0, 3, 1, 2), labels[:, 0]

    return Reiterable(epoch, compile_s, unmap)


PEERS = {
    f"FFCV{cache}, fast DCT": Peer(
        "own", write, partial(batches, os_cache), fast_dct=True, work=("images", "delayed")
    )
    for cache, os_cache in CACHES.items()
}
