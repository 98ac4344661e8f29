"""The interface of a loader in the benchmark, and the code that several loaders share."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset

if TYPE_CHECKING:
    from PIL import Image

Batch = tuple[torch.Tensor, torch.Tensor]
CROP_SIDE = 224
MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


@dataclass(frozen=True)
class Peer:
    """A loader in the benchmark.

    Its library is imported in `batches`, so that the time to the first batch includes the import, and a
    missing library is reported.

    Args:
        decoder: The decoder, with whose limit the loader is compared; "pixels" decodes nothing.
        write: Writes the JPEG images to a new folder in the loader's own format; image i has the label i.
        batches: Opens that folder with a number of cores and a batch size, and returns an iterable over the
            batches of one epoch: images of shape (N, 3, H, W), labels of shape (N,).
        output: "uint8", or "float32" for images normalised and randomly flipped.
        limit: Not a loader but the decoder alone, an upper bound; its images are discarded.
        work: What it measures: "images" of one size as they are, the same from "delayed" files, or
            random "crops" of images of any size.
        fast_dct: The decoder always uses libjpeg-turbo's faster, less exact DCT, so its images are compared
            with those of another decoder with the same setting.
    """

    decoder: str
    write: Callable[[list[bytes], Path], None]
    batches: Callable[[Path, int, int], Iterable[Batch]]
    output: str = "uint8"
    limit: bool = False
    fast_dct: bool = False
    work: tuple[str, ...] = ("images",)


def peers() -> dict[str, Peer]:
    """Return all loaders by name, from the modules `peers/<group>/<name>.py`."""
    found: dict[str, Peer] = {}
    for path in sorted((Path(__file__).parent / "peers").glob("*/[a-z]*.py")):
        found |= import_module(f"tests.bench.loading.peers.{path.parent.name}.{path.stem}").PEERS
    return found


def decode(data: bytes | memoryview | np.ndarray) -> torch.Tensor:
    """Decode with TorchCodec to uint8 (3, H, W)."""
    from torchcodec.decoders import decode_jpeg

    return decode_jpeg(bytes(data))


def open_with_pillow(data: bytes) -> "Image.Image":
    """Open with Pillow, as RGB."""
    import io

    from PIL import Image

    return Image.open(io.BytesIO(data)).convert("RGB")


def decode_with_pillow(data: bytes) -> torch.Tensor:
    """Decode with Pillow to uint8 (3, H, W)."""
    return torch.from_numpy(np.array(open_with_pillow(data))).permute(2, 0, 1)


def random_crop(to_float: bool) -> Callable[["torch.Tensor | Image.Image"], torch.Tensor]:
    """Return the usual random crop of a training, for tensors and images of Pillow: uint8, or normalised."""
    from torchvision.transforms import v2

    steps = [v2.RandomResizedCrop(CROP_SIDE), v2.RandomHorizontalFlip(), v2.PILToTensor()]
    normalise = [v2.ToDtype(torch.float32, scale=True), v2.Normalize(MEAN, STD)]
    return v2.Compose([*steps, *(normalise if to_float else ())])


class Samples(Dataset):
    """A map-style dataset of images.

    Args:
        count: Number of images.
        read: Returns the encoded image and the label for an index.
        decode: Decodes an image to uint8 (3, H, W).
        to_float: Normalise the images and flip them randomly.
    """

    def __init__(
        self,
        count: int,
        read: Callable[[int], tuple[bytes, int]],
        decode: Callable[[bytes], torch.Tensor] = decode,
        to_float: bool = False,
    ) -> None:
        self.count, self.read, self.decode = count, read, decode
        self.transform = _flip_and_normalize() if to_float else None

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, i: int) -> tuple[torch.Tensor, int]:
        data, label = self.read(i)
        image = self.decode(data)
        return (self.transform(image) if self.transform else image), label


def _flip_and_normalize() -> Callable[[torch.Tensor], torch.Tensor]:
    """Return the usual training transform of a single image."""
    from torchvision.transforms import v2

    return v2.Compose(
        [v2.RandomHorizontalFlip(), v2.ToDtype(torch.float32, scale=True), v2.Normalize(MEAN, STD)]
    )


def make_dataloader(
    dataset: Dataset, cores: int, batch_size: int | None, kind: type = DataLoader, **more: object
) -> DataLoader:
    """Return a `DataLoader` with one worker per core; a single core loads faster in the main process."""
    workers = cores if cores > 1 else 0
    if workers:
        more |= {"num_workers": workers, "persistent_workers": True, "multiprocessing_context": "fork"}
    return kind(dataset, batch_size=batch_size, **more)


class Reiterable:
    """An iterable whose iterator a function creates anew for each epoch.

    Args:
        make: Returns the iterator.
        compile_s: Seconds that it took to compile the steps: they are measured apart from loading.
        unmap: Called between two epochs: forgets maps of files, whose pages could not be evicted.
    """

    def __init__(
        self,
        make: Callable[[], Iterator[Batch]],
        compile_s: float = 0.0,
        unmap: Callable[[], object] = lambda: None,
    ) -> None:
        self.make, self.compile_s, self.unmap = make, compile_s, unmap

    def __iter__(self) -> Iterator[Batch]:
        return self.make()
