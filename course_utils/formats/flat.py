"""All bytes in one flat file, and NumPy arrays of offsets and labels beside it: the least that works.

One long array needs neither offsets nor labels: `FlatArray`, and what other formats make of it.
"""

import json
from abc import ABC, abstractmethod
from collections.abc import Iterable
from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from course_utils.formats.open_file import MappedFile, OpenFile, load_array, read_file
from course_utils.formats.sample import RandomAccess, Sample, require_index

DATA, OFFSETS, LABELS, NAMES = "data.bin", "offsets.npy", "labels.npy", "names.json"


class FlatFile(RandomAccess):
    """A flat file, read by `pread` at the offset of the sample."""

    title = "flat file (pread)"
    opener: ClassVar[type[OpenFile | MappedFile]] = OpenFile

    @classmethod
    def write(cls, path: Path, samples: Iterable[Sample]) -> None:
        """Write a folder with the data and its index."""
        path.mkdir()
        names, labels, offsets = [], [], [0]
        with (path / DATA).open("xb") as file:
            for name, data, label in samples:
                file.write(data)
                names.append(name)
                labels.append(label)
                offsets.append(offsets[-1] + len(data))
        np.save(path / OFFSETS, np.array(offsets, np.int64))
        np.save(path / LABELS, np.array(labels, np.int64))
        (path / NAMES).write_text(json.dumps(names))

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._data = self.opener(path / DATA)
        with self.naming_errors():
            self.offsets, self.labels = load_array(path / OFFSETS), load_array(path / LABELS)
            self.names: list[str] = json.loads(read_file(path / NAMES))
            require_index(self.offsets, self._data.size, self.labels, self.names)

    def __len__(self) -> int:
        return len(self.labels)

    def read(self, index: int) -> Sample:
        """Read the bytes of one sample with one system call."""
        with self.reading(index):
            start, end = self.offsets[index : index + 2].tolist()
            return Sample(self.names[index], self._data.read(end - start, start), int(self.labels[index]))

    def close(self) -> None:
        """Close the data."""
        super().close()
        self._data.close()


class FlatMap(FlatFile):
    """The same files, mapped into memory: a sample is read by page faults, without a system call."""

    title = "flat file (memory map)"
    opener = MappedFile


class PackedArray(ABC):
    """One long array of unsigned 16-bit integers, such as tokens, in a file: any slice can be read.

    Args:
        path: File that `write` made.

    Attributes:
        title: Name of the format for tables.
    """

    title: ClassVar[str]

    @classmethod
    @abstractmethod
    def write(cls, path: Path, values: NDArray[np.uint16]) -> None:
        """Write an array to a path that does not exist yet."""

    @abstractmethod
    def __init__(self, path: Path) -> None: ...

    @abstractmethod
    def read(self, start: int, stop: int) -> NDArray[np.uint16]:
        """Return the values from `start` to before `stop`, both of them within the array."""

    @abstractmethod
    def close(self) -> None:
        """Close the file."""


class FlatArray(PackedArray):
    """The values and nothing else, mapped into memory: a slice is a view."""

    title = "memory map"

    @classmethod
    def write(cls, path: Path, values: NDArray[np.uint16]) -> None:
        """Write two bytes for each value."""
        with path.open("xb") as file:
            file.write(values.astype("<u2").tobytes())

    def __init__(self, path: Path) -> None:
        file = OpenFile(path)
        self._values = file.map().view("<u2")
        file.close()

    def read(self, start: int, stop: int) -> NDArray[np.uint16]:
        """Return a view of the map."""
        return self._values[start:stop]

    def close(self) -> None:
        """Unmap the file."""
        self._values = np.empty(0, np.uint16)
