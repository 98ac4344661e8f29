"""FFCV: a file in its own format that holds the same JPEG bytes."""

from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from tests.bench.loading.peer import Batch, Peer, Reiterable


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
    DatasetWriter(str(folder / "images.beton"), fields, num_workers=1).from_indexed_dataset(pixels)


def batches(folder: Path, cores: int, batch_size: int) -> Iterable[Batch]:
    from ffcv.fields.decoders import SimpleRGBImageDecoder
    from ffcv.transforms import ToTensor

    return epochs(folder, cores, batch_size, [SimpleRGBImageDecoder(), ToTensor()])


def epochs(folder: Path, cores: int, batch_size: int, steps: list) -> Iterable[Batch]:
    """Return the epochs of a loader with these steps for images."""
    from ffcv.fields.decoders import IntDecoder
    from ffcv.loader import Loader, OrderOption
    from ffcv.transforms import ToTensor

    decoders = {"image": steps, "label": [IntDecoder(), ToTensor()]}
    loader = Loader(
        str(folder / "images.beton"),
        batch_size,
        cores,
        order=OrderOption.SEQUENTIAL,
        pipelines=decoders,
        drop_last=False,
    )

    def epoch() -> Iterator[Batch]:
        for images, labels in loader:
            yield images.permute(0, 3, 1, 2), labels[:, 0]

    return Reiterable(epoch)


PEERS = {"FFCV, fast DCT": Peer("own", write, batches, fast_dct=True)}
