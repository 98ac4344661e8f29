"""A seeded sample of ImageNet's validation set, or of any other collection of images."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from data_setup.create import Rendered
from data_setup.format import SetupError
from data_setup.sources.archives import Place, list_images, read_bytes
from data_setup.sources.labels import read_labels
from data_setup.sources.preprocess import to_square

DEFAULT_COUNT = 10_000


class Item(NamedTuple):
    """A file of the collection, and its label."""

    place: Place
    label: int


@dataclass(frozen=True)
class FileRenderer:
    """Reads and resamples files of a collection.

    Args:
        source: The folder, tar or zip.
    """

    source: Path

    def render(self, item: Item) -> Rendered:
        """Return the image of a file.

        Raises:
            UnreadableError: It is none.
        """
        picture = to_square(read_bytes(self.source, item.place), item.place.name)
        return Rendered(picture.image, item.label, picture.notes)


class CollectionSource:
    """A random sample of a collection, in the order of the file names.

    Args:
        source: A folder, a tar or a zip with images.
        labels: A file that says what they show; None where each class has a folder.
        count: How many; None takes 10,000, or all if there are fewer.
        seed: Which ones.

    Raises:
        FileNotFoundError: There is no such source.
        SetupError: It cannot be used, has fewer images, or the labels do not fit.
    """

    def __init__(self, source: Path, labels: Path | None, count: int | None, seed: int) -> None:
        self._source, self._seed = source, seed
        self._places = list_images(source)
        self._labels, self._classes = read_labels(labels, self._places.names(), len(self._places))
        self.count = _checked_count(count, len(self._places), source)
        order = np.random.default_rng(seed).permutation(len(self._places))
        self._sample, self._rest = np.sort(order[: self.count]), order[self.count :]

    def identity(self) -> dict[str, object]:
        """What decides every byte of the images: not where the collection lies, nor whether it is a tar."""
        digest = hashlib.sha256()
        for name, label in zip(self._places.names(), self._labels, strict=True):
            digest.update(f"{name}\0{label}\n".encode("utf-8", "surrogateescape"))
        size = len(self._places)
        names = digest.hexdigest()[:16]
        return {"source": "collection", "seed": self._seed, "count": self.count, "of": size, "names": names}

    def classes(self) -> list[str]:
        """The name of each label, where labels have names."""
        return self._classes

    def items(self, slots: Sequence[int]) -> list[Item]:
        """The files of the sample at these positions."""
        return [self._item(index) for index in self._sample[slots[0] : slots[-1] + 1]]

    def reserve(self, shard: int, shards: int) -> Iterator[Item]:
        """The rest of the shuffled collection; shards take turns, so that each may be made alone."""
        return (self._item(index) for index in self._rest[shard::shards])

    def origin(self, item: Item) -> str:
        """The name of a file in the collection."""
        return item.place.name

    def renderer(self) -> FileRenderer:
        """What is sent to the workers."""
        return FileRenderer(self._source)

    def _item(self, index: int) -> Item:
        return Item(self._places[index], int(self._labels[index]))


def _checked_count(count: int | None, available: int, source: Path) -> int:
    if count is None:
        return min(DEFAULT_COUNT, available)
    if count > available:
        raise SetupError(f"{source} holds {available} images; you asked for --count {count}")
    return count
