"""Make the table of the members of a stored zip: where each lies, how large it is, and its checksum."""

import bisect
import itertools
import os
import struct
from collections.abc import Iterator
from pathlib import Path
from zipfile import BadZipFile

import numpy as np
from zlib_ng.zlib_ng import crc32

from course_utils.data.zips.directory import find_directory
from course_utils.data.zips.entries import Row, parse_members
from course_utils.data.zips.errors import PackError
from course_utils.data.zips.source import Source
from course_utils.data.zips.zip_format import LOCAL, LOCAL_SIGNATURE

MAX_OVERHEAD = LOCAL.size + 2 * 0xFFFF + 24  # longest header, name, extra field and data descriptor
CHUNK = 100_000  # members that are Python objects at a time
BLOCK = 1 << 18  # bytes


class Members:
    """Members of a zip by their places in a table that is sorted by name.

    Args:
        where: Path or address of the zip, for messages.
        table: What `scan` returns, without its last row.
    """

    def __init__(self, where: str | Path, table: np.ndarray) -> None:
        self._where, self.table = where, table

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
            raise KeyError(f"{self._where} has no member {name!r}")
        return i


def scan(path: str | Path, source: Source) -> np.ndarray:
    """Return the table of a stored zip: the members sorted by name, then `zip_stamp`.

    Args:
        path: Its path or address, for messages.
        source: Where its bytes come from.
    """
    try:
        found = find_directory(source)
        size = source.size
        directory = source.read_exactly(size - found.start, found.start)  # and the end records, for the stamp
        stamp = b"", found.start, crc32(directory), size, 0
        rows = _table(itertools.chain(parse_members(directory, found), [stamp]))
    except (BadZipFile, struct.error, OverflowError) as error:
        raise BadZipFile(f"{path} is not a complete zip file: {error}; make or copy it again") from error
    except PackError:
        raise
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


def zip_stamp(fd: int, start: int, checksum: int) -> Row:
    """Return the last row of a table, which tells whether it is intact and belongs to a zip.

    It holds the offset of the zip's directory, the checksum of everything from there on, the size of the zip,
    and the checksum of all other rows. The directory in turn holds the checksum of each member.
    """
    at, directory_crc = start, 0
    while block := os.pread(fd, BLOCK, at):
        at, directory_crc = at + len(block), crc32(block, directory_crc)
    return b"", start, directory_crc, os.fstat(fd).st_size, checksum


def stored_data(found: bytes, size: int) -> memoryview | None:
    """Return the data of a stored member, given the bytes from its header on; None if they are not there.

    Args:
        found: As many bytes as its span.
        size: Size of the data.
    """
    # The extra field of this header may differ in length from the one in the directory.
    signature, *_, name_length, extra_length = LOCAL.unpack_from(found)
    start = LOCAL.size + name_length + extra_length
    data = memoryview(found)[start : start + size]
    return data if signature == LOCAL_SIGNATURE and len(data) == size else None


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
