"""A folder with one file for each sample, and a list of names and labels."""

import json
import os
from collections.abc import Iterable
from pathlib import Path

from course_utils.formats.sample import RandomAccess, Sample

LIST = "samples.json"


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
