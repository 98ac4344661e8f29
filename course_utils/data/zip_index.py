"""Read any member of a stored zip with one `os.pread`: no handle with a position, so nothing to race for.

A stored member is a run of bytes inside the zip. Its place and length, gathered once in a table, are all
that a reader needs. A saved table is mapped into memory, so the processes of a machine share one copy of it.
"""

import bisect
import itertools
import mmap
import os
import struct
import weakref
import zlib
from collections.abc import Iterator
from pathlib import Path
from zipfile import BadZipFile

import numpy as np

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

MOST_AROUND = LOCAL.size + 2 * 0xFFFF + 24  # a header, name, extra field and data descriptor at their longest
ENCRYPTED, UTF8 = 1, 1 << 11
FIELDS = "name, offset, span, size, crc"


class ZipIndex:
    """The members of one stored zip, sorted by name; any thread or process may read from it.

    Args:
        path: The zip. Directories in it are left out.
        saved: A file that `save` wrote. It is mapped if it belongs to this very zip; else the zip is scanned.

    Raises:
        ValueError: A member is compressed or encrypted, or two have the same name.
        BadZipFile: The file is no zip, or a damaged one.
    """

    def __init__(self, path: str | Path, saved: str | Path | None = None) -> None:
        self.path, self.saved = Path(path), Path(saved) if saved else None
        self._fd = os.open(self.path, os.O_RDONLY)
        self.close = weakref.finalize(self, os.close, self._fd)
        status = os.fstat(self._fd)
        stamp = (b"", status.st_mtime_ns, status.st_size, 0, 0)
        rows = np.load(self.saved, mmap_mode="r") if self.saved and self.saved.exists() else None
        self._rows = scan(self.path, stamp) if rows is None or rows[0].item() != stamp else np.asarray(rows)
        self.table = self._rows[1:]

    def save(self, saved: str | Path) -> None:
        """Write the table for `ZipIndex(path, saved)`, whole or not at all."""
        self.saved = Path(saved)
        partial = self.saved.with_name(f"{self.saved.name}.{os.getpid()}.npy")
        np.save(partial, self._rows)
        partial.replace(self.saved)

    def __reduce__(self) -> tuple:
        return ZipIndex, (self.path, self.saved)

    def __len__(self) -> int:
        return len(self.table)

    def name(self, i: int) -> str:
        """Return the name of member `i`."""
        return self.table[i]["name"].decode()

    def find(self, name: str) -> int:
        """Return the position of the member with this name; KeyError when there is none."""
        i = bisect.bisect_left(self.table["name"], name.encode())
        if i == len(self) or self.name(i) != name:
            raise KeyError(f"{self.path} has no member {name!r}")
        return i

    def read(self, i: int, check: bool = True) -> memoryview:
        """Return the bytes of member `i`; BadZipFile if they are not those of the directory, CRC included."""
        _, offset, span, size, crc = self.table[i].item()
        found = os.pread(self._fd, span, offset)
        # Only the header beside the data tells where the data begin: its extra field may have another length.
        signature, *_, name_length, extra_length = LOCAL.unpack_from(found.ljust(LOCAL.size))
        start = LOCAL.size + name_length + extra_length
        data = memoryview(found)[start : start + size]
        if signature != LOCAL_SIGNATURE or len(data) != size or (check and zlib.crc32(data) != crc):
            raise BadZipFile(f"{self.path}: {self.name(i)!r} is damaged, or the zip was changed while open")
        return data


def scan(path: Path, stamp: tuple) -> np.ndarray:
    """Return the table of a stored zip: the stamp as its first row, then the members sorted by name."""
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as zipped:
            first, end, shift = _directory(zipped)
            found = itertools.chain([stamp], _members(zipped, first, end, shift))
            parts = iter(lambda: list(itertools.islice(found, 100_000)), [])  # not all as objects at once
            rows = np.concatenate([np.rec.fromrecords(part, names=FIELDS) for part in parts]).view(np.ndarray)
    except (BadZipFile, struct.error) as error:
        raise BadZipFile(f"{path} is no zip, or not all of one: {error}") from error
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error
    members = rows[1:]
    order = np.argsort(members["offset"])
    span = np.diff(members["offset"][order], append=first)
    members["span"][order] = np.minimum(span, members["size"][order] + MOST_AROUND)
    if np.any(members["span"] < members["size"] + LOCAL.size):
        raise BadZipFile(f"{path}: its members overlap; pack it again")
    members[:] = members[np.argsort(members["name"], kind="stable")]
    if np.any(members["name"][1:] == members["name"][:-1]):
        raise ValueError(f"{path}: two members have the same name; pack it again")
    return rows


def _directory(zipped: mmap.mmap) -> tuple[int, int, int]:
    """Return where the directory begins and ends, and how many bytes stand before the zip itself."""
    end = zipped.rfind(END_SIGNATURE)
    if end < 0:
        raise BadZipFile("it has no directory")
    *_, size, offset, _ = END.unpack_from(zipped, end)
    if zipped[max(end - LOCATOR64.size, 0) : end].startswith(LOCATOR64_SIGNATURE):
        end -= LOCATOR64.size + END64.size
        *_, size, offset = END64.unpack_from(zipped, end)
    return end - size, end, end - size - offset


def _members(zipped: mmap.mmap, at: int, end: int, shift: int) -> Iterator[tuple[bytes, int, int, int, int]]:
    """Yield name, offset, a zero for the span, size and CRC of each member in the directory."""
    while at < end:
        record = CENTRAL.unpack_from(zipped, at)
        signature, _, _, flags, method, _, _, crc, packed, size, *tails, _, _, _, offset = record
        if signature != CENTRAL_SIGNATURE:
            raise BadZipFile("its directory is damaged")
        extra = at + CENTRAL.size + tails[0]
        name, at = zipped[extra - tails[0] : extra], extra + tails[1] + tails[2]
        if MAX32 in (size, packed, offset):
            size, packed, offset = _widen(zipped[extra : extra + tails[1]], size, packed, offset)
        if not (flags & UTF8 or name.isascii()):
            name = name.decode("cp437").encode()
        if method or flags & ENCRYPTED:
            how = "encrypted" if flags & ENCRYPTED else "compressed"
            raise ValueError(f"{name.decode()!r} is {how}; pack it stored, as `zip -0` does")
        if not name.endswith(b"/"):
            yield name, offset + shift, 0, size, crc


def _widen(extra: bytes, *numbers: int) -> list[int]:
    """Return the numbers, those of 64 bits from the extra field, where they stand in this order."""
    at = 0
    while struct.unpack_from("<H", extra, at)[0] != ZIP64_EXTRA:
        at += 4 + struct.unpack_from("<H", extra, at + 2)[0]
    wide = iter(struct.unpack_from(f"<{numbers.count(MAX32)}Q", extra, at + 4))
    return [next(wide) if number == MAX32 else number for number in numbers]
