"""The records of a stored (uncompressed) zip: their byte layouts, and functions that write them one by one.

`zipfile` keeps some 600 bytes per member in memory until the archive is closed: 600 MB for a million images.
Layouts: APPNOTE.TXT of PKWARE, sections 4.3.7 (local header), 4.3.12 (central directory) and 4.3.14 to 4.3.16
(end records). The time stamp is always 1980-01-01, so that equal members make equal archives.
"""

import struct
from collections.abc import Iterable, Iterator
from typing import NamedTuple

# signature, version, flags, method, time, date, CRC, packed size, size, lengths of name and extra field
LOCAL = struct.Struct("<4s5H3L2H")
# signature, version made by, then as LOCAL, length of comment, disk, internal and external attributes, offset
CENTRAL = struct.Struct("<4s6H3L5H2L")
# signature, this disk, first disk, members on this disk, members, directory size and offset, comment length
END = struct.Struct("<4s4H2LH")
# signature, size of the rest, versions, then as END, without the comment
END64 = struct.Struct("<4sQ2H2L4Q")
# signature, disk and offset of END64, number of disks
LOCATOR64 = struct.Struct("<4sLQL")
LOCAL_SIGNATURE, CENTRAL_SIGNATURE, END_SIGNATURE = b"PK\3\4", b"PK\1\2", b"PK\5\6"
END64_SIGNATURE, LOCATOR64_SIGNATURE = b"PK\6\6", b"PK\6\7"
ZIP64_EXTRA = 1  # tag of the extra field that holds 64-bit numbers
MAX16, MAX32 = 0xFFFF, 0xFFFFFFFF  # a field with this value refers to a 64-bit number elsewhere
DATE_1980 = 0x21
REGULAR_FILE = 0o100644 << 16
MADE_ON_UNIX = 3 << 8
VERSION, VERSION_ZIP64 = 20, 45


class Member(NamedTuple):
    """One entry of the central directory.

    Args:
        name: ASCII name.
        size: Size of the data in bytes.
        crc: CRC-32 of the data.
        offset: Offset of the local header in the archive.
    """

    name: str
    size: int
    crc: int
    offset: int


def local_header(name: str, size: int, crc: int) -> bytes:
    """Return the local header, which precedes the data of a member."""
    encoded = name.encode("ascii")
    fixed = LOCAL.pack(LOCAL_SIGNATURE, VERSION, 0, 0, 0, DATE_1980, crc, size, size, len(encoded), 0)
    return fixed + encoded


def member_span(name: str, size: int) -> int:
    """Return the number of bytes that a member occupies: local header and data."""
    return LOCAL.size + len(name) + size


def central_directory(members: Iterable[Member], start: int) -> Iterator[bytes]:
    """Generate the central directory and the end records.

    Args:
        members: All members, ordered by offset.
        start: Offset of the directory: the end of the last member.

    Yields:
        The bytes of one record after the other.
    """
    count, end = 0, start
    for member in members:
        record = _central_record(member)
        count, end = count + 1, end + len(record)
        yield record
    yield end_records(count, start, end)


def _central_record(member: Member) -> bytes:
    far = member.offset >= MAX32
    extra = struct.pack("<2HQ", ZIP64_EXTRA, 8, member.offset) if far else b""
    version = VERSION_ZIP64 if far else VERSION
    name = member.name.encode("ascii")
    fixed = CENTRAL.pack(
        CENTRAL_SIGNATURE,
        MADE_ON_UNIX | version,
        version,
        *(0, 0, 0, DATE_1980),
        *(member.crc, member.size, member.size),
        *(len(name), len(extra), 0, 0, 0),
        REGULAR_FILE,
        MAX32 if far else member.offset,
    )
    return fixed + name + extra


def end_records(count: int, start: int, end: int) -> bytes:
    """Return the records that follow the central directory.

    Args:
        count: Number of members.
        start: Offset of the directory.
        end: Offset of its end.
    """
    size = end - start
    classic = END.pack(
        *(END_SIGNATURE, 0, 0, min(count, MAX16), min(count, MAX16)),
        *(min(size, MAX32), min(start, MAX32), 0),
    )
    if count < MAX16 and size < MAX32 and start < MAX32:
        return classic
    big = END64.pack(
        *(END64_SIGNATURE, END64.size - 12, MADE_ON_UNIX | VERSION_ZIP64, VERSION_ZIP64, 0, 0),
        *(count, count, size, start),
    )
    return big + LOCATOR64.pack(LOCATOR64_SIGNATURE, 0, end, 1) + classic
