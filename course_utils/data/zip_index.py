"""Read any member of a stored zip with one `os.pread`, safe for concurrent threads and processes.

A stored member is a run of bytes in the file, so a table of offsets and sizes is all that a reader needs. A
saved table is mapped into memory, and the processes of a machine share one copy. `zipfile` would read through
one file position, which forked processes share, and keep a Python object for each member.
"""

import bisect
import io
import itertools
import os
import struct
import weakref
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from zipfile import BadZipFile

import numpy as np
from zlib_ng.zlib_ng import crc32

from course_utils.data.zip_directory import (
    Row,
    find_directory,
    index_path,
    open_regular_file,
    parse_members,
)
from course_utils.data.zip_format import LOCAL, LOCAL_SIGNATURE
from course_utils.system import write_atomically

MAX_OVERHEAD = LOCAL.size + 2 * 0xFFFF + 24  # longest header, name, extra field and data descriptor
CHUNK = 100_000  # members that are Python objects at a time
BLOCK = 1 << 18  # bytes


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


def _read_vector(fd: int, views: Sequence[memoryview], offset: int) -> int:
    """Do what `os.preadv` does, also where the system lacks it; return the number of bytes read."""
    if hasattr(os, "preadv"):
        return os.preadv(fd, views, offset)
    total = 0
    for view in views:
        if data := os.pread(fd, view.nbytes, offset + total):
            view.cast("B")[: len(data)] = data
            total += len(data)
    return total


def load(saved: Path, fd: int) -> np.ndarray | None:
    """Map a saved table; None if there is none, or it is damaged or that of another zip.

    Args:
        saved: The file.
        fd: The open zip.
    """
    try:
        rows = np.asarray(np.load(saved, mmap_mode="r"))
        stamp = rows[-1].item()
        is_intact = rows.dtype == table_type(rows.dtype["name"].itemsize) and crc32(rows[:-1]) == stamp[-1]
        return rows if is_intact and stamp == zip_stamp(fd, stamp[1], stamp[-1]) else None
    except Exception:  # NumPy raises nearly anything for a damaged file
        return None


def zip_stamp(fd: int, start: int, checksum: int) -> Row:
    """Return the last row of a table, which tells whether it is intact and belongs to a zip.

    It holds the offset of the zip's directory, the checksum of everything from there on, the size of the zip,
    and the checksum of all other rows. The directory in turn holds the checksum of each member.
    """
    at, directory_crc = start, 0
    while block := os.pread(fd, BLOCK, at):
        at, directory_crc = at + len(block), crc32(block, directory_crc)
    return b"", start, directory_crc, os.fstat(fd).st_size, checksum


def write_table(saved: Path, rows: np.ndarray) -> None:
    """Write a table atomically; any number of processes may do so at once."""
    file = io.BytesIO()
    np.save(file, rows)
    write_atomically(saved, [file.getvalue()])


def scan(path: Path, fd: int) -> np.ndarray:
    """Return the table of a stored zip: the members sorted by name, then `zip_stamp`.

    Args:
        path: Its path, for messages.
        fd: The open zip.
    """
    try:
        found = find_directory(fd, os.fstat(fd).st_size)
        directory = os.pread(fd, found.end - found.start, found.start)
        rows = _table(itertools.chain(parse_members(directory, found), [zip_stamp(fd, found.start, 0)]))
    except (BadZipFile, struct.error, OverflowError) as error:
        raise BadZipFile(f"{path} is not a complete zip file: {error}; make or copy it again") from error
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error
    members = rows[:-1]
    order = np.argsort(members["offset"])
    span = np.diff(members["offset"][order], append=found.start)
    members["span"][order] = np.minimum(span, members["size"][order] + MAX_OVERHEAD)
    if np.any(members["span"] < members["size"] + LOCAL.size):
        raise BadZipFile(f"{path}: its members overlap; pack it again")
    members[:] = members[np.argsort(members["name"], kind="stable")]
    if np.any(members["name"][1:] == members["name"][:-1]):
        raise ValueError(f"{path}: two members have the same name; pack it again")
    rows[-1]["crc"] = crc32(members)
    return rows


def table_type(name_bytes: int) -> np.dtype[np.void]:
    """Return the type of the rows of a table whose names have at most so many bytes."""
    numbers = [(field, np.int64) for field in ("offset", "span", "size", "crc")]
    return np.dtype([("name", f"S{name_bytes}"), *numbers])


def _table(rows: Iterator[Row]) -> np.ndarray:
    parts = []
    while part := list(itertools.islice(rows, CHUNK)):
        longest = max(len(row[0]) for row in part)
        parts.append(np.array(part, table_type(max(longest, 1))))
    return np.concatenate(parts)
