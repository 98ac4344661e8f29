"""Random access to the members of a tar, as map-style data sets on a tar do it."""

import json
import tarfile
from collections.abc import Iterable
from pathlib import Path

from course_utils.formats import RandomAccess, Sample, Tar


class TarMembers(RandomAccess):
    """The file of `Tar`: `tarfile` finds all members when it is opened, and seeks to the one that is read."""

    title = "tar (by member)"

    @classmethod
    def write(cls, path: Path, samples: Iterable[Sample]) -> None:
        """Write the members of `Tar`."""
        Tar.write(path, samples)

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._archive = tarfile.open(path, "r:")  # noqa: SIM115 - closed by `close`
        self._members = self._archive.getmembers()

    def __len__(self) -> int:
        return len(self._members) // 2

    def read(self, index: int) -> Sample:
        """Seek to the two members of one sample; the format has no checksum of their data."""
        data, about = (self._content(2 * index + part) for part in range(2))
        found = json.loads(about)
        return Sample(found["name"], data, found["label"])

    def close(self) -> None:
        """Close the tar."""
        self._archive.close()

    def _content(self, number: int) -> bytes:
        file = self._archive.extractfile(self._members[number])
        if file is None:
            raise tarfile.ReadError(f"{self._members[number].name} is not a file")
        return file.read()
