"""Read any member of a stored zip with one `os.pread`, safe for concurrent threads and processes.

A stored member is a run of bytes in the file, so a table of offsets and sizes is all that a reader needs. A
saved table is mapped into memory, and the processes of a machine share one copy. `zipfile` would read through
one file position, which forked processes share, and keep a Python object for each member.
"""

import bisect
import os
import weakref
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from zipfile import BadZipFile

import numpy as np
from zlib_ng.zlib_ng import crc32

from course_utils.data.zips.member_table import scan
from course_utils.data.zips.saved_table import load, write_table
from course_utils.data.zips.zip_file import index_path, open_regular_file
from course_utils.data.zips.zip_format import LOCAL, LOCAL_SIGNATURE


class ZipIndex:
    """Index of the members of one stored zip, sorted by name; any thread or process may read from it.

    Args:
        path: The zip. Directories in it are left out.
        saved: A file that `save` wrote. It is mapped if it is intact and belongs to this zip: the size of the
            zip and the checksum of its directory are compared. Otherwise the zip is scanned, and the file is
            replaced if there is one and its folder can be written.

    Raises:
        ValueError: A member is compressed or encrypted, or two have the same name.
        BadZipFile: The path is no regular file, or no zip, or is damaged.
    """

    def __init__(self, path: str | Path, saved: str | Path | None = None) -> None:
        self.path, self.saved = Path(path), Path(saved) if saved else None
        self._fd = open_regular_file(self.path)
        self.close = weakref.finalize(self, os.close, self._fd)
        rows = load(self.saved, self._fd) if self.saved else None
        if rows is None:
            rows = scan(self.path, self._fd)
            if self.saved and self.saved.exists():
                with suppress(OSError):  # of a folder that cannot be written
                    write_table(self.saved, rows)
        self._rows = rows
        self.table = rows[:-1]

    def save(self, saved: str | Path | None = None) -> None:
        """Write the table atomically to a file, by default to `index_path` of the zip."""
        self.saved = Path(saved) if saved else index_path(self.path)
        write_table(self.saved, self._rows)

    def __reduce__(self) -> tuple[type["ZipIndex"], tuple[Path, Path | None]]:
        return ZipIndex, (self.path, self.saved)

    def __len__(self) -> int:
        return len(self.table)

    def fileno(self) -> int:
        """Return the descriptor of the open zip."""
        return self._fd

    def name(self, i: int) -> str:
        """Return the name of member `i`."""
        name: bytes = self.table[i]["name"]
        return name.decode()

    def find(self, name: str) -> int:
        """Return the position of the member with this name; KeyError if there is none."""
        i = bisect.bisect_left(self.table["name"], name.encode())
        if i == len(self) or self.name(i) != name:
            raise KeyError(f"{self.path} has no member {name!r}")
        return i

    def read(self, i: int, check: bool = True) -> memoryview:
        """Return the bytes of member `i`; BadZipFile if they do not match the directory.

        Args:
            i: Position of the member in the table.
            check: Also compare the CRC.
        """
        _, offset, span, size, crc = self.table[i].item()
        found = os.pread(self._fd, span, offset)
        # The extra field of this header may differ in length from the one in the directory.
        signature, *_, name_length, extra_length = LOCAL.unpack_from(found.ljust(LOCAL.size))
        start = LOCAL.size + name_length + extra_length
        data = memoryview(found)[start : start + size]
        if signature != LOCAL_SIGNATURE or len(data) != size or (check and crc32(data) != crc):
            raise self._damaged(i)
        return data

    def read_into(self, i: int, array: np.ndarray, check: bool = True) -> None:
        """Read the bytes of member `i` directly into an array, without the copy that `read` takes.

        Args:
            i: Position of the member in the table.
            array: Contiguous, uint8, with as many elements as the member has bytes.
            check: Also compare the CRC.

        Raises:
            ValueError: The member has another size.
            BadZipFile: Its bytes do not match the directory.
        """
        _, offset, span, size, crc = self.table[i].item()
        if size != array.size:
            raise ValueError(f"{size} bytes, but {array.size} are expected")
        header = bytearray(span - size)
        found = _read_vector(self._fd, [memoryview(header), array.data], offset)
        signature, *_, name_length, extra_length = LOCAL.unpack_from(header)
        if LOCAL.size + name_length + extra_length != len(header):  # something follows the data
            array.reshape(-1)[:] = self.read(i, check)
        elif signature != LOCAL_SIGNATURE or found != span or (check and crc32(array) != crc):
            raise self._damaged(i)

    def _damaged(self, i: int) -> BadZipFile:
        return BadZipFile(f"{self.path}: {self.name(i)!r} is damaged, or the zip was changed while open")


def _read_in_turn(fd: int, views: Sequence[memoryview], offset: int) -> int:
    """Do what `os.preadv` does, where the system lacks it; return the number of bytes read."""
    total = 0
    for view in views:
        if data := os.pread(fd, view.nbytes, offset + total):
            view.cast("B")[: len(data)] = data
            total += len(data)
    return total


_read_vector: Callable[[int, Sequence[memoryview], int], int] = getattr(os, "preadv", _read_in_turn)
