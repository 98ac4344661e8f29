"""Find the directory of a stored zip, whatever its comment or its members contain.

A zip is read from its end, and its comment and its members may hold any bytes, also those of another zip. So
an end record counts only if its comment ends with the file, and if the directory that it describes lies
directly before it and begins as one does.
"""

from collections.abc import Iterator
from typing import NamedTuple
from zipfile import BadZipFile

from course_utils.data.zips.source import Source
from course_utils.data.zips.zip_format import (
    CENTRAL,
    CENTRAL_SIGNATURE,
    END,
    END64,
    END64_SIGNATURE,
    END_SIGNATURE,
    LOCAL_SIGNATURE,
    LOCATOR64,
    LOCATOR64_SIGNATURE,
    MAX16,
    MAX32,
)

LONGEST_TAIL = END64.size + LOCATOR64.size + END.size + MAX16  # end records and the longest comment


class Directory(NamedTuple):
    """Where the directory of a zip lies.

    Args:
        start: Offset of its first byte in the file.
        end: Offset behind its last byte.
        shift: Number of bytes that precede the zip in its file.
        entries: Number of its entries.
    """

    start: int
    end: int
    shift: int
    entries: int


def find_directory(source: Source) -> Directory:
    """Find the directory of a zip.

    A zip without other bytes before it is preferred to one inside of a comment or of a member, which begins
    later in the file.

    Args:
        source: The zip.

    Raises:
        BadZipFile: There is none, or its comment or a member makes two equally likely.
    """
    first = max(source.size - LONGEST_TAIL, 0)
    tail = source.read_up_to(source.size - first, first)
    described = {one for at in _end_records(tail) for one in _described(tail, at, first)}
    found = [one for one in described if _is_plausible(source, one)]
    if not found:
        raise BadZipFile("it has no directory")
    least = min(one.shift for one in found)
    best = [one for one in found if one.shift == least]
    if len(best) > 1:
        raise BadZipFile("its comment or a member looks like the end of another zip")
    return best[0]


def _end_records(tail: bytes) -> Iterator[int]:
    """Yield the positions of all end records whose comment ends with the file."""
    at = tail.rfind(END_SIGNATURE)
    while at >= 0:
        if len(tail) - at >= END.size and at + END.size + END.unpack_from(tail, at)[-1] == len(tail):
            yield at
        at = tail.rfind(END_SIGNATURE, 0, at + len(END_SIGNATURE) - 1)


def _described(tail: bytes, at: int, first: int) -> Iterator[Directory]:
    """Yield the directories that an end record describes, in 32 bits and in 64.

    Args:
        tail: The last bytes of the file.
        at: Position of the end record in them.
        first: Offset of these bytes in the file.
    """
    _, disk, start_disk, here, count, size, offset, _ = END.unpack_from(tail, at)
    if disk or start_disk or here != count:
        return
    end = first + at
    yield Directory(end - size, end, end - size - offset, count)
    locator, big = at - LOCATOR64.size, at - LOCATOR64.size - END64.size
    if big >= 0 and tail.startswith(LOCATOR64_SIGNATURE, locator) and tail.startswith(END64_SIGNATURE, big):
        *_, count, size, offset = END64.unpack_from(tail, big)
        end = first + big
        yield Directory(end - size, end, end - size - offset, count)


def _is_plausible(source: Source, found: Directory) -> bool:
    """Return whether a directory and its first member begin as they should."""
    start, end, shift, entries = found
    if not entries:
        return start == end == shift  # nothing precedes the directory of an empty zip
    if min(start, shift) < 0 or end - start < entries * CENTRAL.size:
        return False
    record = source.read_up_to(CENTRAL.size, start)
    if len(record) < CENTRAL.size or not record.startswith(CENTRAL_SIGNATURE):
        return False
    offset = CENTRAL.unpack(record)[-1]  # MAX32 if it needs 64 bits
    return offset == MAX32 or source.read_up_to(len(LOCAL_SIGNATURE), offset + shift) == LOCAL_SIGNATURE
