"""Where the bytes of a zip come from: an open file, or an object that is read by ranges."""

import os
from pathlib import Path
from typing import Protocol

from course_utils.data.zips.regular_file import read_exactly, read_up_to


class Source(Protocol):
    """Bytes at any offset: all that finding the members of a zip needs."""

    @property
    def size(self) -> int:
        """Number of bytes."""

    def read_up_to(self, size: int, offset: int) -> bytes:
        """Return so many bytes, fewer only where the source ends."""

    def read_exactly(self, size: int, offset: int) -> bytes:
        """Return so many bytes; an `OSError` or a `PackError` says why there are fewer."""


class OpenFile:
    """An open file as a source.

    Args:
        fd: Its descriptor.
        path: Its path, for messages.
    """

    def __init__(self, fd: int, path: str | Path) -> None:
        self._fd, self._path = fd, path
        self.size = os.fstat(fd).st_size

    def read_up_to(self, size: int, offset: int) -> bytes:
        """Return so many bytes, fewer only where the file ends."""
        return read_up_to(self._fd, size, offset)

    def read_exactly(self, size: int, offset: int) -> bytes:
        """Return so many bytes, as `regular_file.read_exactly` does."""
        return read_exactly(self._fd, size, offset, self._path)
