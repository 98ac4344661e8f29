"""Write a stored zip of very many tiny members, to measure what opening such a zip costs."""

import zlib
from pathlib import Path

import numpy as np

from course_utils.data.zips.zip_format import (
    CENTRAL,
    LOCAL,
    MAX32,
    Member,
    central_directory,
    end_records,
    local_header,
    member_span,
)

NAME = b"%010d.item"
SIZE = len(NAME % 0)  # of a name, and of the data, which is the name
SPAN = member_span((NAME % 0).decode(), SIZE)
CRC_AT, CENTRAL_CRC_AT, OFFSET_AT = 14, 16, 42  # in a local header, and in a record of the directory
CHUNK = 100_000  # members in memory at a time


def write_many_members(path: str | Path, count: int) -> None:
    """Write a zip of `count` stored members, `0000000000.item` and so on, each holding its own name.

    All records are copies of one in which only numbers and names differ: one call per member would take four
    times as long.

    Args:
        path: The zip to write; about 120 bytes per member.
        count: Number of members; zip64 records are added where needed.

    Raises:
        ValueError: There are so many that their offsets need more than 32 bits.
    """
    if count * SPAN >= MAX32:
        raise ValueError(f"{count:,} members are more than {MAX32 // SPAN:,}")
    with Path(path).open("wb") as file:
        file.writelines(_members(first, count) for first in range(0, count, CHUNK))
        start = file.tell()
        file.writelines(_records(first, count) for first in range(0, count, CHUNK))
        file.write(end_records(count, start, file.tell()))


def _members(first: int, count: int) -> bytes:
    name = NAME % 0
    found = _copies(local_header(name.decode(), SIZE, 0) + name, first, count)
    names, crcs = _names(first, count)
    found[:, CRC_AT : CRC_AT + 4] = crcs
    found[:, LOCAL.size : LOCAL.size + SIZE] = found[:, LOCAL.size + SIZE :] = names
    return found.tobytes()


def _records(first: int, count: int) -> bytes:
    record = next(iter(central_directory([Member((NAME % 0).decode(), SIZE, 0, 0)], 0)))
    found = _copies(record, first, count)
    names, crcs = _names(first, count)
    found[:, CENTRAL_CRC_AT : CENTRAL_CRC_AT + 4] = crcs
    found[:, OFFSET_AT : OFFSET_AT + 4] = _as_bytes(SPAN * np.arange(first, first + len(found)))
    found[:, CENTRAL.size :] = names
    return found.tobytes()


def _copies(record: bytes, first: int, count: int) -> np.ndarray:
    return np.tile(np.frombuffer(record, np.uint8), (min(CHUNK, count - first), 1))


def _names(first: int, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return names and CRCs as bytes, a row per member."""
    names = [NAME % number for number in range(first, min(first + CHUNK, count))]
    crcs = np.fromiter(map(zlib.crc32, names), np.int64, len(names))
    return np.frombuffer(b"".join(names), np.uint8).reshape(-1, SIZE), _as_bytes(crcs)


def _as_bytes(numbers: np.ndarray) -> np.ndarray:
    return numbers.astype("<u4")[:, None].view(np.uint8)
