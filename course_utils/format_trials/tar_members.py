"""Random access to the members of a tar, as map-style data sets on a tar do it."""

import json
import tarfile
from collections.abc import Iterable
from pathlib import Path

from course_utils.formats import RandomAccess, Sample, Tar


class TarMembers(RandomAccess):
    """The file of `Tar`: names and labels are read when it is opened, a picture when it is asked for."""

    title = "tar (by member)"

    @classmethod
    def write(cls, path: Path, samples: Iterable[Sample]) -> None:
        """Write the members of `Tar`."""
        Tar.write(path, samples)

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._archive = tarfile.open(path, "r:")  # noqa: SIM115 - closed by `close`
        members = self._archive.getmembers()
        self._pictures = members[::2]
        self._about = [json.loads(self._content(member)) for member in members[1::2]]

    def __len__(self) -> int:
        return len(self._pictures)

    def read(self, index: int) -> Sample:
        """Seek to one picture and read it; the format has no checksum of it."""
        about = self._about[index]
        return Sample(about["name"], self._content(self._pictures[index]), about["label"])

    def close(self) -> None:
        """Close the tar."""
        self._archive.close()

    def _content(self, member: tarfile.TarInfo) -> bytes:
        file = self._archive.extractfile(member)
        if file is None:
            raise tarfile.ReadError(f"{member.name} is not a file")
        return file.read()
