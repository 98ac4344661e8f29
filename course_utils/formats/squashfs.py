"""A folder of single files as a squashfs image."""

import subprocess
import tempfile
from collections.abc import Iterable
from pathlib import Path

from course_utils.formats.sample import RandomAccess, Sample
from course_utils.formats.single_files import LIST, SingleFiles

WITHOUT_COMPRESSION = ("-noI", "-noD", "-noF", "-noX", "-no-fragments")


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
