"""Open a zip as a file, and name the hidden file beside it that holds its index."""

import os
import stat
from pathlib import Path
from zipfile import BadZipFile, ZipFile


def open_regular_file(path: Path) -> int:
    """Open a zip for reading and return its descriptor; opening a pipe would wait for its writer without end.

    Raises:
        FileNotFoundError: There is nothing.
        BadZipFile: There is something else than a file.
    """
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise BadZipFile(_irregular(path))
    return fd


def _irregular(path: str | Path) -> str:
    return f"{path} is no regular file; give the zip file itself"


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
        except BaseException:  # of a folder
            os.close(fd)
            raise
        try:
            if not file.seekable():  # `open_regular_file` would cost another look-up
                raise BadZipFile(_irregular(path))
            super().__init__(file)
        except BaseException:
            file.close()
            raise
        self.filename = os.fspath(path)

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
