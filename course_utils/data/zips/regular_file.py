"""Open and read regular files only, to the end whatever a disk does, and tell whether one has changed."""

import errno
import os
import stat
from functools import partial
from pathlib import Path
from typing import NamedTuple, Self

from course_utils.data.zips.errors import PackError, changed_while_open
from course_utils.system import retry_transient


class FileStatus(NamedTuple):
    """What changes with the content of a file, and can be asked without reading it.

    Args:
        size: In bytes.
        modified: When the content was last written, in ns; programs that copy files may set it back.
        changed: When content, times or name were last changed, in ns; nobody can set it back.
    """

    size: int
    modified: int
    changed: int

    @classmethod
    def of(cls, file: int | str | Path) -> Self:
        """Return the status of a file, given its descriptor or its path."""
        found = os.fstat(file) if isinstance(file, int) else Path(file).stat()
        return cls(found.st_size, found.st_mtime_ns, found.st_ctime_ns)


def open_regular_file(path: str | Path, kind: str = "zip file") -> int:
    """Open a file for reading and return its descriptor; a pipe would wait for its writer without end.

    Raises:
        OSError: There is nothing, or it cannot be read.
        PackError: There is something else than a file.
    """
    fd = retry_transient(partial(os.open, path, os.O_RDONLY | os.O_NONBLOCK))
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise PackError(irregular(path, kind))
    return fd


def irregular(path: str | Path, kind: str = "zip file") -> str:
    """Return the message for what is no file."""
    return f"{path} is no regular file; give the {kind} itself"


def read_regular_file(path: str | Path, kind: str) -> bytes:
    """Read a whole file; errors that may pass are retried.

    Raises:
        OSError: There is nothing, or it cannot be read; it names the file.
        PackError: There is something else than a file.
    """
    try:
        return retry_transient(partial(_read, path, kind))
    except OSError as error:
        raise named(error, path) from error


def _read(path: str | Path, kind: str) -> bytes:
    with open(open_regular_file(path, kind), "rb") as file:
        content = file.read()
        if len(content) < os.fstat(file.fileno()).st_size:
            raise OSError(errno.EIO, "a read ended early")
        return content


def read_up_to(fd: int, size: int, offset: int) -> bytes:
    """Read so many bytes, fewer only where the file ends; a read may return fewer than asked for."""
    data = os.pread(fd, size, offset)
    while data and len(data) < size:
        more = os.pread(fd, size - len(data), offset + len(data))
        if not more:
            break
        data += more
    return data


def read_exactly(fd: int, size: int, offset: int, path: str | Path) -> bytes:
    """Read bytes that were there when the file was opened.

    Raises:
        ChangedFileError: The file is shorter now.
        OSError: The disk gives fewer, or fails.
    """
    data = read_up_to(fd, size, offset)
    if len(data) < size:
        if os.fstat(fd).st_size < offset + size:
            raise changed_while_open(path)
        raise OSError(errno.EIO, "a read ended early")
    return data


def named(error: OSError, path: str | Path) -> OSError:
    """Return an error of a disk that names the file."""
    return OSError(error.errno, error.strerror or str(error), str(path))


def without_waiting(path: str, flags: int) -> int:
    """Open a file for `open(..., opener=without_waiting)`: a pipe does not wait for its writer."""
    return os.open(path, flags | os.O_NONBLOCK)
