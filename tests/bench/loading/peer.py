"""What a loader in the benchmark is, and what several of them have in common."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset

Batch = tuple[torch.Tensor, torch.Tensor]
MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


@dataclass(frozen=True)
class Peer:
    """A loader to be measured.

    Its library is imported in `batches`: time to the first batch includes it, and a missing one is reported.

    Args:
        decoder: Whose limit it is compared with; "pixels" decodes nothing.
        write: Writes the JPEG images to a new folder in the loader's own format; image i has the label i.
        batches: Opens that folder with so many cores and images in a batch, and gives something that can be
            iterated once an epoch: images of shape (N, 3, H, W), labels.
        output: "uint8", or "float32" for images normalised and mirrored by chance.
        limit: It is no loader but the decoder alone, whose images nobody gets.
        fast_dct: Its decoder always takes libjpeg-turbo's faster, less exact transform; so its images are
            compared with those of the same setting.
    """

    decoder: str
    write: Callable[[list[bytes], Path], None]
    batches: Callable[[Path, int, int], Iterable[Batch]]
    output: str = "uint8"
    limit: bool = False
    fast_dct: bool = False


def peers() -> dict[str, Peer]:
    """Return all loaders, from the modules in `peers`, by name."""
    modules = sorted(path.stem for path in (Path(__file__).parent / "peers").glob("[a-z]*.py"))
    found: dict[str, Peer] = {}
    for module in modules:
        found |= import_module(f"tests.bench.loading.peers.{module}").PEERS
    return found


def decode(data: bytes | memoryview | np.ndarray) -> torch.Tensor:
    """Decode with torchvision to uint8 (3, H, W)."""
    from torchvision.io import decode_jpeg

    return decode_jpeg(torch.from_numpy(np.frombuffer(data, np.uint8).copy()))


def decode_with_pillow(data: bytes) -> torch.Tensor:
    """Decode with Pillow to uint8 (3, H, W)."""
    import io

    from PIL import Image

    return torch.from_numpy(np.array(Image.open(io.BytesIO(data)).convert("RGB"))).permute(2, 0, 1)


class Samples(Dataset):
    """Images that a function gives by number, each decoded by itself; floats are normalised and mirrored."""

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
    """Make the usual transform of single images."""
    from torchvision.transforms import v2

    return v2.Compose(
        [v2.RandomHorizontalFlip(), v2.ToDtype(torch.float32, scale=True), v2.Normalize(MEAN, STD)]
    )


def loader(
    dataset: Dataset, cores: int, batch_size: int | None, kind: type = DataLoader, **more: object
) -> DataLoader:
    """Make a `DataLoader` with a worker for each core; on one core its own process is faster."""
    workers = cores if cores > 1 else 0
    if workers:
        more |= {"num_workers": workers, "persistent_workers": True, "multiprocessing_context": "fork"}
    return kind(dataset, batch_size=batch_size, **more)


class Again:
    """Something that a function makes anew for each epoch."""

    def __init__(self, make: Callable[[], Iterator[Batch]]) -> None:
        self.make = make

    def __iter__(self) -> Iterator[Batch]:
        return self.make()


def in_batches(samples: Iterable[tuple[torch.Tensor, int]], size: int) -> Iterator[Batch]:
    """Collect samples into batches."""
    images: list[torch.Tensor] = []
    labels: list[int] = []
    for image, label in samples:
        images.append(image)
        labels.append(label)
        if len(images) == size:
            yield torch.stack(images), torch.tensor(labels)
            images, labels = [], []
    if images:
        yield torch.stack(images), torch.tensor(labels)
