"""Open a zip as a file, and name the hidden file beside it that holds its index."""

import os
import stat
from pathlib import Path
from zipfile import BadZipFile


def open_regular_file(path: Path) -> int:
    """Open a zip for reading and return its descriptor; opening a pipe would wait for its writer without end.

    Raises:
        FileNotFoundError: There is nothing.
        BadZipFile: There is something else than a file.
    """
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise BadZipFile(f"{path} is no regular file; give the zip file itself")
    return fd


def index_path(path: str | Path) -> Path:
    """Return where the saved index of a zip lies: in a hidden file beside it."""
    path = Path(path)
    return path.with_name(f".{path.name}.index.npy")
