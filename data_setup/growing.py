"""An archive that grows at its end, while its hash is taken."""

import hashlib
import os
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO

from data_setup.stored_zip import local_header, member_span
from data_setup.write_behind import WriteBehind


class Growing:
    """An archive that bytes are appended to, and its hash.

    Args:
        path: The file; made if it does not exist.
    """

    def __init__(self, path: Path) -> None:
        path.touch()
        self.file: BinaryIO = path.open("r+b", buffering=0)
        self.end = 0
        self.sha = hashlib.sha256()
        self._behind = WriteBehind(self.file)

    def settle(self) -> None:
        """Wait for what is being written to the disk; OSError if the disk refused it."""
        self._behind.settle()

    def close(self) -> None:
        """Close the file."""
        self._behind.close()
        self.file.close()

    def append(self, data: bytes | memoryview) -> None:
        """Write at the end, wherever others have written beyond it."""
        self.file.seek(self.end)
        view = memoryview(data)
        while view:
            view = view[self.file.write(view) :]
        self.note(data)

    def note(self, data: bytes | memoryview) -> None:
        """Count bytes that stand at the end already."""
        self.sha.update(data)
        self.end += len(data)
        self._behind.reach(self.end)

    def recall(self, members: Iterable[tuple[str, int, int]]) -> bool:
        """Count what an earlier run wrote next, if it is all there.

        Args:
            members: Name, size and CRC-32 of each.
        """
        end, sha = self.end, self.sha.copy()
        for name, size, crc in members:
            span = member_span(name, size)
            data = os.pread(self.file.fileno(), span, end)
            if data[: span - size] != local_header(name, size, crc) or zlib.crc32(data[span - size :]) != crc:
                return False
            sha.update(data)
            end += span
        self.end, self.sha = end, sha
        return True
