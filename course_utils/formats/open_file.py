"""An open file that is read by `pread`, and closed once: by `close` or with its last reference."""

import io
import mmap
import os
import stat
import weakref
from functools import partial
from pathlib import Path
from typing import NoReturn

import numpy as np

from course_utils.data import ChangedFileError, PackError
from course_utils.system import retry_transient


class OpenFile:
    """A regular file to read from; threads and processes may share it, for it has no position.

    Args:
        path: The file. Opening a pipe, which would wait for its writer, is refused.

    Attributes:
        size: Its bytes when it was opened.
        close: Closes it; may be repeated.

    Raises:
        PackError: There is something else than a file.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        # Not `__del__` and a flag: after a second `os.close`, the number may belong to another file.
        self.close = weakref.finalize(self, os.close, self._fd)
        status = os.fstat(self._fd)
        if not stat.S_ISREG(status.st_mode):
            self.close()
            raise PackError(f"{path} is no regular file")
        self.size = status.st_size

    def __reduce__(self) -> NoReturn:
        # In another process, the number of the descriptor belongs to no file, or to another one.
        raise TypeError(f"cannot pickle the open file {self.path}: open it in each process")

    def read(self, size: int, offset: int) -> bytes:
        """Return exactly so many bytes.

        Raises:
            ChangedFileError: The file ends before.
        """
        data = self.read_some(size, offset)
        if len(data) != size:
            raise ChangedFileError(f"{self.path} has become shorter since it was opened; copy it again")
        return data

    def read_some(self, size: int, offset: int) -> bytes:
        """Return so many bytes, or fewer where the file ends before.

        Raises:
            OSError: The disk failed, also when asked again.
            ValueError: The file was closed.
        """
        data = self._pread(size, offset)
        while data and len(data) < size:  # a read may be short
            more = self._pread(size - len(data), offset + len(data))
            if not more:
                break
            data += more
        return data

    def map(self) -> np.ndarray:
        """Return the bytes, uint8 (size,), as a map that outlasts this object."""
        if not self.size:  # nothing cannot be mapped
            return np.empty(0, np.uint8)
        return np.frombuffer(mmap.mmap(self._fd, 0, access=mmap.ACCESS_READ), np.uint8)

    def _pread(self, size: int, offset: int) -> bytes:
        if not self.close.alive:
            raise ValueError(f"{self.path} is closed")
        try:
            return retry_transient(partial(os.pread, self._fd, size, offset))
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(self.path)) from error


class MappedFile:
    """A file that is mapped into memory; where it becomes shorter, the kernel ends who reads there (SIGBUS).

    Args:
        path: The file.

    Attributes:
        size: Its bytes.
    """

    def __init__(self, path: Path) -> None:
        file = OpenFile(path)
        self.size, self._map = file.size, file.map()
        file.close()

    def read(self, size: int, offset: int) -> bytes:
        """Return some bytes, by page faults."""
        return self._map[offset : offset + size].tobytes()

    def close(self) -> None:
        """Unmap the file."""
        self._map = np.empty(0, np.uint8)


class PositionedReader:
    """A position of its own in an open file, for what reads a stream.

    Args:
        file: The open file; others may read it at the same time.
    """

    def __init__(self, file: OpenFile) -> None:
        self._file, self._position = file, 0

    def read(self, size: int) -> bytes:
        """Return the next bytes; fewer at the end of the file."""
        data = self._file.read_some(size, self._position)
        self._position += len(data)
        return data


def read_file(path: Path) -> bytes:
    """Return all bytes of a file."""
    file = OpenFile(path)
    try:
        return file.read(file.size, 0)
    finally:
        file.close()


def load_array(path: Path) -> np.ndarray:
    """Return the array in a file that `numpy.save` wrote."""
    array: np.ndarray = np.load(io.BytesIO(read_file(path)))
    return array
