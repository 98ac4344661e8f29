"""Append members to a stored zip and hash it at the same time; after a kill, continue where it ended.

`zipfile` can do neither: it reopens only a finished archive, and keeps every member in memory.
"""

import hashlib
import zlib
from collections.abc import Iterable
from pathlib import Path

from course_utils.data import zip_format
from data_setup.create.direct_writer import DirectWriter


class ZipWriter:
    """An archive that members are appended to, and its hash.

    Args:
        path: The file; it is created if missing.
    """

    def __init__(self, path: Path) -> None:
        path.touch()
        self._path, self._reader = path, path.open("rb", buffering=0)
        self._writer: DirectWriter | None = None
        self.end = 0
        self.sha = hashlib.sha256()

    def close(self) -> None:
        """Close the file; unless `finish` was called, the last members may be missing from it."""
        self._reader.close()
        if self._writer:
            self._writer.close()

    def add(self, name: str, crc: int, data: bytes | memoryview) -> None:
        """Append a member.

        Args:
            name: Its ASCII name.
            crc: CRC-32 of its data.
            data: Its data.
        """
        self.append(zip_format.local_header(name, len(data), crc))
        self.append(data)

    def append(self, data: bytes | memoryview) -> None:
        """Write at the end, over whatever an earlier run left there."""
        self._open_writer().append(data)
        self.sha.update(data)
        self.end += len(data)

    def finish(self) -> None:
        """Flush everything to disk, and truncate what an earlier run left behind the end.

        Raises:
            OSError: The disk refused any of it.
        """
        self._open_writer().finish()

    def _open_writer(self) -> DirectWriter:
        if not self._writer:
            self._writer = DirectWriter(self._path, self.end)
        return self._writer

    def recover(self, members: Iterable[tuple[str, int, int]]) -> bool:
        """Move the end past the next members if an earlier run wrote all of them.

        Args:
            members: Name, size and CRC-32 of each.
        """
        end, sha = self.end, self.sha.copy()
        self._reader.seek(end)
        for name, size, crc in members:
            span = zip_format.member_span(name, size)
            data = self._reader.read(span)
            header, content = data[: span - size], data[span - size :]
            if header != zip_format.local_header(name, size, crc) or zlib.crc32(content) != crc:
                return False
            sha.update(data)
            end += span
        self.end, self.sha = end, sha
        return True
