"""Save the table of a zip's members in a file beside it, and load it only if it is intact and of that zip."""

import io
from pathlib import Path

import numpy as np
from zlib_ng.zlib_ng import crc32

from course_utils.data.zips.member_table import table_type, zip_stamp
from course_utils.data.zips.regular_file import open_regular_file
from course_utils.system import write_atomically


def load(saved: Path, fd: int) -> np.ndarray | None:
    """Read a saved table; None if there is none, or it is damaged or that of another zip.

    It is read into memory that belongs to this process: a map would change, or vanish, with the file.

    Args:
        saved: The file.
        fd: The open zip.
    """
    try:
        with open(open_regular_file(saved), "rb") as file:  # noqa: PTH123 - it is open
            rows = np.lib.format.read_array(file, allow_pickle=False)
        stamp = rows[-1].item()
        is_intact = rows.dtype == table_type(rows.dtype["name"].itemsize) and crc32(rows[:-1]) == stamp[-1]
        return rows if is_intact and stamp == zip_stamp(fd, stamp[1], stamp[-1]) else None
    except Exception:  # NumPy raises nearly anything for a damaged file
        return None


def write_table(saved: Path, rows: np.ndarray) -> None:
    """Write a table atomically; any number of processes may do so at once."""
    file = io.BytesIO()
    np.save(file, rows)
    write_atomically(saved, [file.getvalue()])
