"""Read a zip by `zipfile`, and name the hidden file beside it that holds its index."""

import errno
import os
import struct
import zlib
from functools import partial
from pathlib import Path
from zipfile import BadZipFile, ZipFile

from course_utils.data.zips.errors import PackError, changed_while_open, sample_error
from course_utils.data.zips.regular_file import FileStatus, irregular, named
from course_utils.system import retry_transient

# What zipfile and ZipIndex raise for a damaged archive or member, and for one that they cannot read.
ZIP_DAMAGE = (BadZipFile, zlib.error, struct.error, EOFError, ValueError, OverflowError)
ZIP_UNSUITABLE = (RuntimeError, NotImplementedError, MemoryError)


def is_of_content(error: OSError) -> bool:
    """Return whether an error comes from a decoder or from offsets in a damaged file, not from the disk."""
    return error.errno in (None, errno.EINVAL)


class RegularZipFile(ZipFile):
    """A `ZipFile` to read, of a regular file only; opening it takes one look-up of the path.

    Args:
        path: The zip.

    Raises:
        FileNotFoundError: There is nothing.
        BadZipFile: There is something else than a file, or no complete zip.
    """

    def __init__(self, path: str | Path) -> None:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        try:
            file = open(fd, "rb")  # noqa: PTH123, SIM115 - `close` closes it
        except OSError as error:  # of a folder
            os.close(fd)
            raise named(error, path) from None
        try:
            if not file.seekable():  # `open_regular_file` would cost another look-up
                raise BadZipFile(irregular(path))
            self._opened = FileStatus.of(fd)
            super().__init__(file)
        except BaseException as error:
            file.close()
            if isinstance(error.__context__, OSError) and not is_of_content(error.__context__):
                raise error.__context__ from None  # zipfile calls it damage if reading the end fails
            raise
        self.filename = os.fspath(path)

    def read_sample(self, name: str) -> bytes:
        """Read a member; errors of the disk that may pass are retried.

        Raises:
            KeyError: There is no such member.
            BrokenSampleError: It is damaged.
            ChangedFileError: It is not what the directory says, and the file has changed since it was opened.
            PackError: It is encrypted, or packed in a way that cannot be read.
            OSError: The disk fails; it names the file.
        """
        where = f"{self.filename}: {name}"
        try:
            return retry_transient(partial(self.read, name))
        except ZIP_UNSUITABLE as error:
            raise PackError(f"{where}: {error}") from error
        except (*ZIP_DAMAGE, OSError) as error:
            if isinstance(error, OSError) and not is_of_content(error):
                raise named(error, str(self.filename)) from error
            if self.has_changed():
                raise changed_while_open(where) from error
            raise sample_error(where, error) from error

    def has_changed(self) -> bool:
        """Return whether size or times of the file differ from those when it was opened."""
        return self.fp is not None and FileStatus.of(self.fp.fileno()) != self._opened

    def close(self) -> None:
        """Close the zip and its file; may be repeated."""
        file = self.fp
        super().close()
        if file:
            file.close()


def index_path(path: str | Path) -> Path:
    """Return where the saved index of a zip lies: in a hidden file beside it."""
    path = Path(path)
    return path.with_name(f".{path.name}.index.npy")
