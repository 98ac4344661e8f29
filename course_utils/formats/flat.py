"""All bytes in one flat file, and NumPy arrays of offsets and labels beside it: the least that works."""

import json
import os
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from course_utils.formats.sample import RandomAccess, Sample

DATA, OFFSETS, LABELS, NAMES = "data.bin", "offsets.npy", "labels.npy", "names.json"


class FlatFile(RandomAccess):
    """A flat file, read by `pread` at the offset of the sample."""

    title = "flat file (pread)"

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
        self.offsets, self.labels = np.load(path / OFFSETS), np.load(path / LABELS)
        self.names: list[str] = json.loads((path / NAMES).read_text())
        self._fd = os.open(path / DATA, os.O_RDONLY)

    def __len__(self) -> int:
        return len(self.labels)

    def read(self, index: int) -> Sample:
        """Read the bytes of one sample with one system call."""
        start, end = self.offsets[index : index + 2].tolist()
        return Sample(self.names[index], self._bytes(start, end), int(self.labels[index]))

    def close(self) -> None:
        """Close the data."""
        os.close(self._fd)

    def _bytes(self, start: int, end: int) -> bytes:
        return os.pread(self._fd, end - start, start)


class FlatMap(FlatFile):
    """The same files, mapped into memory: a sample is read by page faults, without a system call."""

    title = "flat file (memory map)"

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        # An empty file cannot be mapped.
        self._map = np.memmap(path / DATA, mode="r") if self.offsets[-1] else np.empty(0, np.uint8)

    def _bytes(self, start: int, end: int) -> bytes:
        return self._map[start:end].tobytes()
