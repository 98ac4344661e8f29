"""An open zip that is read at any offset; failing reads are repeated, and another file is never read."""

import errno
import os
import weakref
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TypeVar

from course_utils.data.zips.entries import Row
from course_utils.data.zips.errors import changed_while_open
from course_utils.data.zips.member_table import zip_stamp
from course_utils.data.zips.regular_file import FileStatus, named, open_regular_file, read_exactly
from course_utils.system import retry_transient

Result = TypeVar("Result")


class ZipHandle:
    """An open zip; any thread or forked process may read from it.

    Args:
        path: The zip.

    Attributes:
        fd: Its descriptor.
        stamp: What `zip_stamp` returned for it; None until the directory has been read.

    Raises:
        OSError: There is nothing, or it cannot be read.
        PackError: There is something else than a file.
    """

    def __init__(self, path: Path) -> None:
        self.path, self.fd = path, open_regular_file(path)
        self.close = weakref.finalize(self, os.close, self.fd)
        self.stamp: Row | None = None
        self._opened = FileStatus.of(self.fd)

    def has_changed(self) -> bool:
        """Return whether size or times of the file differ from those when it was opened."""
        return FileStatus.of(self.fd) != self._opened

    def read(self, size: int, offset: int) -> bytes:
        """Read so many bytes, nearly always with one `os.pread`.

        Raises:
            ChangedFileError: The zip is shorter than it was, or was replaced on a server that lost it.
            OSError: The disk or the server fails, also when asked again; it names the file.
        """
        try:
            data = os.pread(self.fd, size, offset)
        except OSError:
            data = b""
        if len(data) == size:
            return data
        return self.persistently(partial(read_exactly, self.fd, size, offset, self.path))

    def read_into(self, views: Sequence[memoryview], size: int, offset: int) -> None:
        """Read so many bytes, as many as the views hold, into them; errors are those of `read`."""
        try:
            done = _read_vector(self.fd, views, offset)
        except OSError:
            done = 0
        if done != size:
            data = memoryview(self.read(size, offset))
            for view in views:
                view.cast("B")[:] = data[: view.nbytes]
                data = data[view.nbytes :]

    def persistently(self, read: Callable[[], Result]) -> Result:
        """Return what `read` returns, repeating it after errors that may pass; others name the file."""

        def attempt() -> Result:
            try:
                return read()
            except OSError as error:
                if error.errno == errno.ESTALE:
                    self._reopen()
                raise

        try:
            return retry_transient(attempt)
        except OSError as error:
            raise named(error, self.path) from error

    def _reopen(self) -> None:
        """Open the zip anew under the same descriptor: after ESTALE only a new handle of the server works."""
        fd = open_regular_file(self.path)
        try:
            if self.stamp and zip_stamp(fd, self.stamp[1], self.stamp[-1]) != self.stamp:
                raise changed_while_open(self.path)
            opened = FileStatus.of(fd)
            os.dup2(fd, self.fd, inheritable=False)
            self._opened = opened
        finally:
            os.close(fd)


def _read_in_turn(fd: int, views: Sequence[memoryview], offset: int) -> int:
    """Do what `os.preadv` does, where the system lacks it; return the number of bytes read."""
    total = 0
    for view in views:
        if data := os.pread(fd, view.nbytes, offset + total):
            view.cast("B")[: len(data)] = data
            total += len(data)
    return total


_read_vector: Callable[[int, Sequence[memoryview], int], int] = getattr(os, "preadv", _read_in_turn)
