"""A folder with one file for each sample and a list of names and labels; and the same as a squashfs image."""

import json
import os
import stat
import subprocess
import tempfile
from collections.abc import Iterable
from pathlib import Path

from course_utils.data import PackError
from course_utils.formats.open_file import read_file
from course_utils.formats.sample import RandomAccess, Sample

LIST = "samples.json"
WITHOUT_COMPRESSION = ("-noI", "-noD", "-noF", "-noX", "-no-fragments")
UNSQUASH_SECONDS = 60  # for one file, even on a damaged image


class SingleFiles(RandomAccess):
    """One file for each sample; the list of names and labels is read when the folder is opened."""

    title = "single files"

    @classmethod
    def write(cls, path: Path, samples: Iterable[Sample]) -> None:
        """Write a folder of files; FileExistsError for a name that occurs twice.

        Raises:
            PackError: A name is that of the list, or of a file somewhere else.
        """
        path.mkdir()
        labels: list[tuple[str, int]] = []
        for sample in samples:
            if sample.name in (LIST, "..") or Path(sample.name).name != sample.name:
                raise PackError(f"{path}: a sample cannot be named {sample.name!r} here")
            with (path / sample.name).open("xb") as file:
                file.write(sample.data)
            labels.append((sample.name, sample.label))
        with (path / LIST).open("x") as file:
            json.dump(labels, file)

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        with self.naming_errors():
            self.labels = parse_list(read_file(path / LIST))

    def __len__(self) -> int:
        return len(self.labels)

    def read(self, index: int) -> Sample:
        """Open, read and close the file of one sample."""
        with self.reading(index):
            name, label = self.labels[index]
            fd = os.open(self.path / name, os.O_RDONLY | os.O_NONBLOCK)
            try:
                status = os.fstat(fd)
                if not stat.S_ISREG(status.st_mode):
                    raise PackError(f"{self.path / name} is no regular file")
                return Sample(name, os.read(fd, status.st_size), label)
            finally:
                os.close(fd)


def parse_list(text: bytes) -> list[tuple[str, int]]:
    """Return names and labels; ValueError if the list has another form."""
    return [(str(name), int(label)) for name, label in json.loads(text)]


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
        with self.naming_errors():
            self.labels = parse_list(self._content(LIST))

    def __len__(self) -> int:
        return len(self.labels)

    def read(self, index: int) -> Sample:
        """Start `unsquashfs` for one file: slow, but it needs no mount."""
        with self.reading(index):
            name, label = self.labels[index]
            return Sample(name, self._content(name), label)

    def _content(self, name: str) -> bytes:
        command = ["unsquashfs", "-no-wildcards", "-cat", str(self.path), name]
        done = subprocess.run(command, capture_output=True, timeout=UNSQUASH_SECONDS, check=False)
        if done.returncode:
            raise ValueError(f"unsquashfs: {done.stderr.decode(errors='replace').strip()[-300:]}")
        return done.stdout
