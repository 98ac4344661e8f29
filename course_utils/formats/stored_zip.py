"""An uncompressed zip, read by Python's `zipfile` or through the offset index of this course."""

import json
import zipfile
from collections.abc import Iterable
from pathlib import Path

from course_utils.data import INFO_NAME, PackError, PackInfo, RegularZipFile, ZipIndex
from course_utils.formats.sample import RandomAccess, Sample


class StoredZip(RandomAccess):
    """A stored zip with the labels in `dataset.json`, read by `zipfile`."""

    title = "zip (zipfile)"

    @classmethod
    def write(cls, path: Path, samples: Iterable[Sample]) -> None:
        """Write a stored zip; PackError for a name that occurs twice or is that of the list of labels."""
        labels: dict[str, int] = {}
        with zipfile.ZipFile(path, "x") as archive:
            for name, data, label in samples:
                if name in labels:
                    raise PackError(f"two samples are named {name!r}")
                if name == INFO_NAME:
                    raise PackError(f"{path}: a sample named {name!r} would replace the list of labels")
                archive.writestr(name, data)
                labels[name] = label
            archive.writestr(INFO_NAME, json.dumps({"labels": labels}))

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        with self.naming_errors():
            self._archive = RegularZipFile(path)
            self.labels = list(PackInfo.from_json(self._archive.read(INFO_NAME)).labels.items())

    def __len__(self) -> int:
        return len(self.labels)

    def read(self, index: int) -> Sample:
        """Find, seek to and read one member; `zipfile` compares its checksum."""
        with self.reading(index):
            name, label = self.labels[index]
            return Sample(name, self._archive.read(name), label)

    def close(self) -> None:
        """Close the zip."""
        super().close()
        self._archive.close()


class IndexedZip(RandomAccess):
    """The same file, read by `ZipIndex`: one `pread` for each sample, checksum compared."""

    title = "zip (offset index)"

    @classmethod
    def write(cls, path: Path, samples: Iterable[Sample]) -> None:
        """Write a stored zip; PackError for a name that occurs twice or is that of the list of labels."""
        StoredZip.write(path, samples)

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        with self.naming_errors():
            self._index = ZipIndex(path)
            info = PackInfo.from_json(bytes(self._index.read(self._index.find(INFO_NAME))))
            self.samples = [(self._index.find(name), label) for name, label in info.labels.items()]

    def __len__(self) -> int:
        return len(self.samples)

    def read(self, index: int) -> Sample:
        """Read one member with one system call."""
        with self.reading(index):
            place, label = self.samples[index]
            return Sample(self._index.name(place), bytes(self._index.read(place)), label)

    def close(self) -> None:
        """Close the zip."""
        super().close()
        self._index.close()
