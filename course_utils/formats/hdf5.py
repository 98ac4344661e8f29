"""HDF5 by h5py: images of different lengths as a ragged data set, or as flat bytes with offsets."""

from collections.abc import Iterable
from pathlib import Path
from typing import ClassVar

import h5py
import numpy as np
from numpy.typing import NDArray

from course_utils.formats.flat import PackedArray, require_uint16
from course_utils.formats.sample import RandomAccess, Sample, require_index


class RaggedHdf5(RandomAccess):
    """One variable-length element for each sample, as most tutorials store JPEG bytes."""

    title = "HDF5 (ragged)"

    @classmethod
    def write(cls, path: Path, samples: Iterable[Sample]) -> None:
        """Append to two data sets that grow, and write the names at the end."""
        with h5py.File(path, "x") as file:
            images = file.create_dataset("images", (0,), h5py.vlen_dtype(np.uint8), maxshape=(None,))
            labels = file.create_dataset("labels", (0,), np.int64, maxshape=(None,))
            names: list[bytes] = []
            for number, (name, data, label) in enumerate(samples):
                images.resize(number + 1, axis=0)
                labels.resize(number + 1, axis=0)
                images[number], labels[number] = np.frombuffer(data, np.uint8), label
                names.append(name.encode())
            file["names"] = np.array(names, np.bytes_)

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        with self.naming_errors():
            self._file = h5py.File(path)
            self.names, self.labels = self._file["names"][:], self._file["labels"][:]
            self._images = self._file["images"]
            if not len(self.names) == len(self.labels) == len(self._images):
                raise ValueError("images, labels and names differ in number")

    def __len__(self) -> int:
        return len(self.labels)

    def read(self, index: int) -> Sample:
        """Read a reference to the sample, then its bytes."""
        with self.reading(index):
            name, data, label = self.names[index], self._images[index], self.labels[index]
            return Sample(name.decode(), data.tobytes(), int(label))

    def close(self) -> None:
        """Close the file."""
        super().close()
        self._file.close()


class FlatHdf5(RandomAccess):
    """All bytes in one data set, and their offsets in another."""

    title = "HDF5 (flat)"
    checksums: ClassVar[bool] = False

    @classmethod
    def write(cls, path: Path, samples: Iterable[Sample]) -> None:
        """Collect the bytes, then write them, without chunks unless they have checksums."""
        names, data, labels = [list(column) for column in zip(*samples, strict=True)] or [[], [], []]
        joined = np.frombuffer(b"".join(data), np.uint8)
        with h5py.File(path, "x") as file:
            # HDF5 keeps checksums of chunks only, and cannot divide nothing into chunks.
            file.create_dataset("images", data=joined, fletcher32=cls.checksums and len(joined) > 0)
            file["offsets"] = np.cumsum([0, *map(len, data)])
            file["labels"] = np.array(labels, np.int64)
            file["names"] = np.array([name.encode() for name in names], np.bytes_)

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        with self.naming_errors():
            self._file = h5py.File(path)
            self.offsets, self.labels = self._file["offsets"][:], self._file["labels"][:]
            self.names = self._file["names"][:]
            self._images = self._file["images"]
            require_index(self.offsets, len(self._images), self.labels, self.names)

    def __len__(self) -> int:
        return len(self.labels)

    def read(self, index: int) -> Sample:
        """Read one slice of the bytes."""
        with self.reading(index):
            start, end = self.offsets[index : index + 2]
            data = self._images[start:end]
            return Sample(self.names[index].decode(), data.tobytes(), int(self.labels[index]))

    def close(self) -> None:
        """Close the file."""
        super().close()
        self._file.close()


class CheckedHdf5(FlatHdf5):
    """The same with a checksum for each chunk (Fletcher-32), compared when it is read."""

    title = "HDF5 (flat, Fletcher-32)"
    checksums = True


class Hdf5Array(PackedArray):
    """One data set, whose values lie in one piece."""

    title = "HDF5"

    @classmethod
    def write(cls, path: Path, values: NDArray[np.uint16]) -> None:
        """Write one data set without chunks."""
        native = require_uint16(values)
        with h5py.File(path, "x") as file:
            file["values"] = native

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._file = h5py.File(path)
        self._values = self._file["values"]

    def read(self, start: int, stop: int) -> NDArray[np.uint16]:
        """Read one slice of the data set."""
        self.require_open()
        values: NDArray[np.uint16] = self._values[start:stop]
        return values

    def close(self) -> None:
        """Close the file."""
        super().close()
        self._file.close()
