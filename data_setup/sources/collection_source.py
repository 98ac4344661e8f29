"""Seeded random sample of ImageNet's validation set, or of any other collection of images."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from course_utils.data import FileStatus
from data_setup.create.render import Rendered
from data_setup.format.errors import SetupError
from data_setup.format.layout import FORMS
from data_setup.format.manifest import SIZES, Identity
from data_setup.sources.archives import FileLocation
from data_setup.sources.file_reader import read_bytes
from data_setup.sources.labels import read_labels
from data_setup.sources.listing import list_images
from data_setup.sources.preprocess import to_square

DEFAULT_COUNT = 10_000


class Item(NamedTuple):
    """A file of the collection, and its label."""

    location: FileLocation
    label: int


@dataclass(frozen=True)
class FileRenderer:
    """Reads, decodes and resamples files of a collection.

    Args:
        source: Folder, tar or zip.
        listed: Status of the archive when it was listed; None for a folder.
    """

    source: Path
    listed: FileStatus | None

    def render(self, item: Item) -> Rendered:
        """Return the image of a file.

        Raises:
            SetupError: The file cannot be read, or the archive is not the one that was listed.
            UnreadableError: It cannot be decoded.
        """
        data = read_bytes(self.source, item.location, self.listed)
        image, notes = to_square(data, item.location.name)
        return Rendered(image, item.label, notes)


class CollectionSource:
    """A random sample of a collection, in the order of the file names.

    Args:
        source: Folder, tar or zip with images.
        labels: File with the labels; None where each class has a folder.
        count: Number of images; None takes 10,000, or all if there are fewer.
        seed: Seed of the random sample.

    Attributes:
        skipped: Names of the files of the collection that are no images by their names.

    Raises:
        FileNotFoundError: There is no such source.
        SetupError: It cannot be used, has fewer images, or the labels do not match.
    """

    forms = FORMS

    def __init__(self, source: Path, labels: Path | None, count: int | None, seed: int) -> None:
        self._source, self._seed = source, seed
        self._files, self.skipped, self._status = list_images(source)
        self._labels, self._classes = read_labels(labels, [file.name for file in self._files])
        self._count = _checked_count(count, len(self._files), source)
        order = np.random.default_rng(seed).permutation(len(self._files))
        self._sample, self._rest = np.sort(order[: self._count]), order[self._count :]

    @property
    def count(self) -> int:
        """The number of images."""
        return self._count

    @property
    def available(self) -> int:
        """The number of images in the collection."""
        return len(self._files)

    @property
    def class_count(self) -> int:
        """The number of different labels in the collection."""
        return len(np.unique(self._labels))

    @property
    def has_odd_classes(self) -> bool:
        """Whether there is one class, or fewer than two images per class: labels may be something else."""
        return self.class_count == 1 or 2 * self.class_count > self.available

    def identity(self) -> Identity:
        """Return what determines every byte of the images: not the collection's path, nor its container.

        Contents are known by their sizes: reading all files would take as long as making the set.
        """
        digest = hashlib.sha256()
        for file, label in zip(self._files, self._labels, strict=True):
            digest.update(f"{file.name}\0{label}\n".encode("utf-8", "surrogateescape"))
        size = len(self._files)
        names = digest.hexdigest()[:16]
        sizes = hashlib.sha256()
        for index in self._sample:
            file = self._files[index]
            size_now = file.length if self._status else (self._source / file.name).stat().st_size
            sizes.update(b"%d\n" % size_now)
        return {
            **{"source": "collection", "seed": self._seed, "count": self.count, "of": size, "names": names},
            SIZES: sizes.hexdigest()[:16],
        }

    def classes(self) -> list[str]:
        """Return the name of each label; empty where labels are numbers."""
        return self._classes

    def items(self, slots: range) -> list[Item]:
        """Return the files of the sample at these positions."""
        return [self._item(index) for index in self._sample[slots.start : slots.stop]]

    def reserve(self, shard: int, shards: int) -> Iterator[Item]:
        """Return the replacements of a shard: every `shards`-th file outside the sample, in random order."""
        return (self._item(index) for index in self._rest[shard::shards])

    def origin(self, item: Item) -> str:
        """Return the name of a file in the collection."""
        return item.location.name

    def renderer(self) -> FileRenderer:
        """Return what is sent to the workers."""
        return FileRenderer(self._source, self._status)

    def _item(self, index: int) -> Item:
        return Item(self._files[index], int(self._labels[index]))


def _checked_count(count: int | None, available: int, source: Path) -> int:
    if count is None:
        return min(DEFAULT_COUNT, available)
    if count > available:
        raise SetupError(f"{source} holds {available} images; you asked for --count {count}")
    return count
