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

from course_utils.data import PackError
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

    It pickles as its path and is opened again.

    Args:
        path: File that `write` made. Others are not looked for: a library raises its own error, an OSError or
            ValueError that may not name the file, or finds values in it.

    Attributes:
        title: Name of the format for tables.
        closed: Whether `close` was called.
    """

    title: ClassVar[str]
    closed = False

    @classmethod
    @abstractmethod
    def write(cls, path: Path, values: NDArray[np.uint16]) -> None:
        """Write an array to a path that does not exist yet; TypeError if its values may not fit."""

    @abstractmethod
    def __init__(self, path: Path) -> None:
        self.path = path

    @abstractmethod
    def read(self, start: int, stop: int) -> NDArray[np.uint16]:
        """Return the values from `start` to before `stop`, both of them within the array.

        They may be read-only, and stay valid after `close`; ValueError after it.
        """

    def close(self) -> None:
        """Close the file; may be repeated."""
        self.closed = True

    def require_open(self) -> None:
        """Raise ValueError after `close`."""
        if self.closed:
            raise ValueError(f"{self.path} is closed")

    def __reduce__(self) -> tuple[type["PackedArray"], tuple[Path]]:
        return type(self), (self.path,)


def require_uint16(values: np.ndarray) -> NDArray[np.uint16]:
    """Return the values in this machine's byte order; TypeError if they may not fit or are no row."""
    if values.ndim != 1:
        raise TypeError(f"one dimension is written, not {values.ndim}")
    return values.astype(np.uint16, casting="safe", copy=False)


class FlatArray(PackedArray):
    """The values and nothing else, mapped into memory: a slice is a view.

    Nothing says how many there were, or of what kind: of a file cut short the rest is read, of another file
    its bytes. Where it becomes shorter while it is open, the kernel ends who reads there (SIGBUS).
    """

    title = "memory map"

    @classmethod
    def write(cls, path: Path, values: NDArray[np.uint16]) -> None:
        """Write two bytes for each value."""
        data = require_uint16(values).astype("<u2").tobytes()
        with path.open("xb") as file:
            file.write(data)

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        file = OpenFile(path)
        if file.size % 2:
            raise PackError(f"{path} has half a value: it was cut short, or is no array")
        self._values = file.map().view("<u2")
        file.close()

    def read(self, start: int, stop: int) -> NDArray[np.uint16]:
        """Return a view of the map."""
        self.require_open()
        return self._values[start:stop]

    def close(self) -> None:
        """Unmap the file."""
        super().close()
        self._values = np.empty(0, np.uint16)
