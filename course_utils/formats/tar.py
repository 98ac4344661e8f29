"""A tar as WebDataset lays it out: the files of one sample follow each other and share a key."""

import io
import json
import tarfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from course_utils.data import PackError
from course_utils.formats.open_file import OpenFile, PositionedReader
from course_utils.formats.sample import BUFFER_BYTES, PackedFormat, Sample

END_BYTES = 1024  # two blocks of zeros


class Tar(PackedFormat):
    """A stream of samples, each a member `.jpg` with its bytes and a member `.json` with name and label."""

    title = "tar (WebDataset)"

    @classmethod
    def write(cls, path: Path, samples: Iterable[Sample]) -> None:
        """Append two members for each sample; their common key is the sample's number."""
        with (
            path.open("xb", buffering=BUFFER_BYTES) as file,
            tarfile.open(fileobj=file, mode="w") as archive,
        ):
            for number, (name, data, label) in enumerate(samples):
                about = json.dumps({"name": name, "label": label}).encode()
                for kind, content in ("jpg", data), ("json", about):
                    member = tarfile.TarInfo(f"{number:09d}.{kind}")
                    member.size = len(content)
                    archive.addfile(member, io.BytesIO(content))

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._file = OpenFile(path)

    def stream(self) -> Iterator[Sample]:
        """Read the file from its start to its end.

        Raises:
            PackError: It does not end as a tar does: `tarfile` takes a damaged header for the end.
        """
        with (
            self.naming_errors(),
            # tarfile asks a stream for nothing but `read`.
            tarfile.open(fileobj=PositionedReader(self._file), mode="r|") as archive,  # type: ignore[call-overload]
        ):
            contents = (self._content(archive, member) for member in archive)
            for data, about in zip(contents, contents, strict=True):
                found = json.loads(about)
                yield Sample(found["name"], data, found["label"])
            self._require_end(archive.offset)

    def close(self) -> None:
        """Close the tar."""
        super().close()
        self._file.close()

    def _require_end(self, offset: int) -> None:
        """Check that two blocks of zeros follow, and nothing but zeros."""
        rest = self._file.read_some(max(self._file.size - offset, END_BYTES), offset)
        if len(rest) < END_BYTES or any(rest):
            raise PackError(f"{self.path} is damaged at byte {offset:,}, or ends there; copy it again")

    @staticmethod
    def _content(archive: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
        file = archive.extractfile(member)
        if file is None:
            raise tarfile.ReadError(f"{member.name} is not a file")
        return file.read()
