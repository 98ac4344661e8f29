"""An archive that grows at its end, while its hash is taken."""

import hashlib
import zlib
from collections.abc import Iterable
from pathlib import Path

from course_utils.data import zip_format
from data_setup.create.direct_writer import Appender


class Growing:
    """An archive that members are added to, and its hash.

    Args:
        path: The file; made if it does not exist.
    """

    def __init__(self, path: Path) -> None:
        path.touch()
        self._path, self._reader = path, path.open("rb", buffering=0)
        self._appender: Appender | None = None
        self.end = 0
        self.sha = hashlib.sha256()

    def close(self) -> None:
        """Close the file; if it is not finished, the last of what was added may not be in it."""
        self._reader.close()
        if self._appender:
            self._appender.close()

    def add(self, name: str, crc: int, data: bytes | memoryview) -> None:
        """Append a member.

        Args:
            name: Its ASCII name.
            crc: The CRC-32 of its bytes.
            data: Its bytes.
        """
        self.append(zip_format.local_header(name, len(data), crc))
        self.append(data)

    def append(self, data: bytes | memoryview) -> None:
        """Write at the end, over whatever an earlier run left there."""
        if not self._appender:
            self._appender = Appender(self._path, self.end)
        self._appender.append(data)
        self.sha.update(data)
        self.end += len(data)

    def finish(self) -> None:
        """Nothing will be added; OSError if the disk has refused anything."""
        self._appender.finish()

    def recall(self, members: Iterable[tuple[str, int, int]]) -> bool:
        """Count what an earlier run wrote next, if it is all there.

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
