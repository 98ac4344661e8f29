"""All bytes in one flat file, and NumPy arrays of offsets and labels beside it: the least that works."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import ClassVar

import numpy as np

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
