"""A folder with one file for each sample and a list of names and labels; or a squashfs image of it."""

import json
import os
import subprocess
import tempfile
from collections.abc import Iterable
from pathlib import Path

from course_utils.formats.sample import RandomAccess, Sample

LIST = "samples.json"
WITHOUT_COMPRESSION = ("-noI", "-noD", "-noF", "-noX", "-no-fragments")


class SingleFiles(RandomAccess):
    """One file for each sample; the list of names and labels is read when the folder is opened."""

    title = "single files"

    @classmethod
    def write(cls, path: Path, samples: Iterable[Sample]) -> None:
        """Write a folder of files; FileExistsError for a name that occurs twice."""
        path.mkdir()
        labels: list[tuple[str, int]] = []
        for sample in samples:
            with (path / sample.name).open("xb") as file:
                file.write(sample.data)
            labels.append((sample.name, sample.label))
        (path / LIST).write_text(json.dumps(labels))

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.labels: list[tuple[str, int]] = json.loads((path / LIST).read_text())

    def __len__(self) -> int:
        return len(self.labels)

    def read(self, index: int) -> Sample:
        """Open, read and close the file of one sample."""
        name, label = self.labels[index]
        fd = os.open(self.path / name, os.O_RDONLY)
        try:
            return Sample(name, os.read(fd, os.fstat(fd).st_size), label)
        finally:
            os.close(fd)


class Squashfs(RandomAccess):
    """The folder of `SingleFiles` as an image, a read-only file system.

    Usually it is mounted and read like that folder; `unsquashfs` reads it without a mount.
    """

    title = "squashfs (unsquashfs)"

    @classmethod
    def write(cls, path: Path, samples: Iterable[Sample]) -> None:
        """Write single files and make an image of them with `mksquashfs`."""
        if path.exists():
            raise FileExistsError(path)
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch) / "files"
            SingleFiles.write(folder, samples)
            options = [*WITHOUT_COMPRESSION, "-noappend", "-no-progress", "-quiet"]
            subprocess.run(["mksquashfs", folder, path, *options], check=True, capture_output=True)

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        with tempfile.TemporaryDirectory() as scratch:
            (Path(scratch) / LIST).write_bytes(self._content(LIST))
            self.labels = SingleFiles(Path(scratch)).labels

    def __len__(self) -> int:
        return len(self.labels)

    def read(self, index: int) -> Sample:
        """Start `unsquashfs` for one file: slow, but it needs no mount."""
        name, label = self.labels[index]
        return Sample(name, self._content(name), label)

    def _content(self, name: str) -> bytes:
        command = ["unsquashfs", "-no-wildcards", "-cat", str(self.path), name]
        return subprocess.run(command, check=True, capture_output=True).stdout
