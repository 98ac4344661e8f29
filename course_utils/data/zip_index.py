"""Read any member of a stored zip with one `os.pread`, safe for concurrent threads and processes.

A stored member is a run of bytes in the file, so a table of offsets and sizes is all that a reader needs. A
saved table is mapped into memory, and the processes of a machine share one copy. `zipfile` would read through
one file position, which forked processes share, and keep a Python object for each member.
"""

import bisect
import itertools
import mmap
import os
import struct
import weakref
from collections.abc import Iterator, Sequence
from pathlib import Path
from zipfile import BadZipFile

import numpy as np
from zlib_ng.zlib_ng import crc32

from course_utils.data.zip_format import (
    CENTRAL,
    CENTRAL_SIGNATURE,
    END,
    END64,
    END_SIGNATURE,
    LOCAL,
    LOCAL_SIGNATURE,
    LOCATOR64,
    LOCATOR64_SIGNATURE,
    MAX32,
    ZIP64_EXTRA,
)

MAX_OVERHEAD = LOCAL.size + 2 * 0xFFFF + 24  # longest header, name, extra field and data descriptor
ENCRYPTED, UTF8 = 1, 1 << 11
CHUNK = 100_000  # members that are Python objects at a time

Row = tuple[bytes, int, int, int, int]  # name, offset, span, size, CRC


class ZipIndex:
    """Index of the members of one stored zip, sorted by name; any thread or process may read from it.

    Args:
        path: The zip. Directories in it are left out.
        saved: A file that `save` wrote. It is mapped if it is intact, and size and modification time of the
            zip are unchanged; otherwise the zip is scanned.

    Raises:
        ValueError: A member is compressed or encrypted, or two have the same name.
        BadZipFile: The file is not a zip, or is damaged.
    """

    def __init__(self, path: str | Path, saved: str | Path | None = None) -> None:
        self.path, self.saved = Path(path), Path(saved) if saved else None
        self._fd = os.open(self.path, os.O_RDONLY)
        self.close = weakref.finalize(self, os.close, self._fd)
        status = os.fstat(self._fd)
        stamp = (b"", status.st_mtime_ns, status.st_size, 0, 0)
        rows = load(self.saved, stamp) if self.saved else None
        self._rows = scan(self.path, stamp) if rows is None else rows
        self.table = self._rows[1:]

    def save(self, saved: str | Path) -> None:
        """Write the table atomically to a file, for `ZipIndex(path, saved)`."""
        self.saved = Path(saved)
        partial = self.saved.with_name(f"{self.saved.name}.{os.getpid()}.npy")
        np.save(partial, self._rows)
        partial.replace(self.saved)

    def __reduce__(self) -> tuple[type["ZipIndex"], tuple[Path, Path | None]]:
        return ZipIndex, (self.path, self.saved)

    def __len__(self) -> int:
        return len(self.table)

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


def load(saved: Path, stamp: Row) -> np.ndarray | None:
    """Map a saved table; None if there is none, or it is damaged or that of another zip."""
    try:
        rows = np.asarray(np.load(saved, mmap_mode="r"))
        *found, checksum = rows[0].item()
        is_intact = rows.dtype == table_type(rows.dtype["name"].itemsize) and crc32(rows[1:]) == checksum
    except Exception:  # NumPy raises nearly anything for a damaged file
        return None
    return rows if is_intact and tuple(found) == stamp[:-1] else None


def scan(path: Path, stamp: Row) -> np.ndarray:
    """Return the table of a stored zip: the stamp as its first row, then the members sorted by name.

    The CRC in the first row is that of all others.
    """
    try:
        if not path.stat().st_size:
            raise BadZipFile("it is empty")  # and cannot be mapped
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as zipped:
            start, end, shift = _directory(zipped)
            rows = _table(itertools.chain([stamp], _members(zipped, start, end, shift)))
    except (BadZipFile, struct.error, OverflowError) as error:
        raise BadZipFile(f"{path} is not a complete zip file: {error}; make or copy it again") from error
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error
    members = rows[1:]
    order = np.argsort(members["offset"])
    span = np.diff(members["offset"][order], append=start)
    members["span"][order] = np.minimum(span, members["size"][order] + MAX_OVERHEAD)
    if np.any(members["span"] < members["size"] + LOCAL.size):
        raise BadZipFile(f"{path}: its members overlap; pack it again")
    members[:] = members[np.argsort(members["name"], kind="stable")]
    if np.any(members["name"][1:] == members["name"][:-1]):
        raise ValueError(f"{path}: two members have the same name; pack it again")
    rows[0]["crc"] = crc32(members)
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


def _directory(zipped: mmap.mmap) -> tuple[int, int, int]:
    """Return start and end of the directory, and the number of bytes that precede the zip in its file."""
    end = zipped.rfind(END_SIGNATURE)
    if end < 0:
        raise BadZipFile("it has no directory")
    *_, size, offset, _ = END.unpack_from(zipped, end)
    if zipped[max(end - LOCATOR64.size, 0) : end].startswith(LOCATOR64_SIGNATURE):
        end -= LOCATOR64.size + END64.size
        *_, size, offset = END64.unpack_from(zipped, end)
    return end - size, end, end - size - offset


def _members(zipped: mmap.mmap, at: int, end: int, shift: int) -> Iterator[Row]:
    """Yield name, offset, 0 for the span, size and CRC of each member in the directory."""
    while at < end:
        record = CENTRAL.unpack_from(zipped, at)
        signature, _, _, flags, method, _, _, crc, packed, size, *lengths, _, _, _, offset = record
        if signature != CENTRAL_SIGNATURE:
            raise BadZipFile("its directory is damaged")
        name_length, extra_length, comment_length = lengths
        extra = at + CENTRAL.size + name_length
        name, at = zipped[extra - name_length : extra], extra + extra_length + comment_length
        if MAX32 in (size, packed, offset):
            size, packed, offset = _zip64(zipped[extra : extra + extra_length], size, packed, offset)
        if not (flags & UTF8 or name.isascii()):
            name = name.decode("cp437").encode()
        if method or flags & ENCRYPTED:
            how = "encrypted" if flags & ENCRYPTED else "compressed"
            raise ValueError(f"{name.decode()!r} is {how}; pack it stored, as `zip -0` does")
        if not name.endswith(b"/"):
            yield name, offset + shift, 0, size, crc


def _zip64(extra: bytes, *numbers: int) -> list[int]:
    """Return the numbers; those that need 64 bits stand in the extra field, in this order."""
    at = 0
    while struct.unpack_from("<H", extra, at)[0] != ZIP64_EXTRA:
        at += 4 + struct.unpack_from("<H", extra, at + 2)[0]
    wide = iter(struct.unpack_from(f"<{numbers.count(MAX32)}Q", extra, at + 4))
    return [next(wide) if number == MAX32 else number for number in numbers]
