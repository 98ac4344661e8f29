"""Parse the entries in the directory of a stored zip."""

import struct
from collections.abc import Iterator
from zipfile import BadZipFile

from course_utils.data.zips.directory import Directory
from course_utils.data.zips.zip_format import CENTRAL, CENTRAL_SIGNATURE, MAX32, ZIP64_EXTRA

ENCRYPTED, UTF8 = 1, 1 << 11

Row = tuple[bytes, int, int, int, int]  # name, offset, span, size, CRC


def parse_members(directory: bytes, found: Directory) -> Iterator[Row]:
    """Yield name, offset in the file, 0 for the span, size and CRC of each member that is no folder.

    Args:
        directory: The bytes from where the directory begins.
        found: Where it lies.

    Raises:
        ValueError: A member is compressed or encrypted.
        BadZipFile: The directory is damaged; `struct.error` if it is truncated.
    """
    at, end, count = 0, found.end - found.start, 0
    while at < end:
        record = CENTRAL.unpack_from(directory, at)
        signature, _, _, flags, method, _, _, crc, packed, size, *lengths, _, _, _, offset = record
        if signature != CENTRAL_SIGNATURE:
            raise BadZipFile("its directory is damaged")
        name_length, extra_length, comment_length = lengths
        extra = at + CENTRAL.size + name_length
        name, at = directory[extra - name_length : extra], extra + extra_length + comment_length
        if MAX32 in (size, packed, offset):
            size, packed, offset = _zip64(directory[extra : extra + extra_length], size, packed, offset)
        if not (flags & UTF8 or name.isascii()):
            name = name.decode("cp437").encode()
        if method or flags & ENCRYPTED:
            how = "encrypted" if flags & ENCRYPTED else "compressed"
            raise ValueError(f"{name.decode()!r} is {how}; pack it stored, as `zip -0` does")
        count += 1
        if not name.endswith(b"/"):
            yield name, offset + found.shift, 0, size, crc
    if at != end or count != found.entries:
        raise BadZipFile(f"its directory is damaged: {count:,} of {found.entries:,} entries")


def _zip64(extra: bytes, *numbers: int) -> list[int]:
    """Return the numbers; those that need 64 bits stand in the extra field, in this order."""
    at = 0
    while struct.unpack_from("<H", extra, at)[0] != ZIP64_EXTRA:
        at += 4 + struct.unpack_from("<H", extra, at + 2)[0]
    wide = iter(struct.unpack_from(f"<{numbers.count(MAX32)}Q", extra, at + 4))
    return [next(wide) if number == MAX32 else number for number in numbers]
