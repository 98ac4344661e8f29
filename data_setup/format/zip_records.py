"""The records of a stored zip, written without keeping one in memory for each member.

`zipfile` holds some 600 bytes for each member until the archive is closed: 600 MB for a million images.
Layout of the records: APPNOTE.TXT of PKWARE, sections 4.3.7 (local header), 4.3.12 (central directory) and
4.3.14 to 4.3.16 (end records). The time stamp is always 1980-01-01: equal members make equal archives.
"""

import struct
from collections.abc import Iterable, Iterator
from typing import NamedTuple

LOCAL = struct.Struct("<4s5H3L2H")
CENTRAL = struct.Struct("<4s6H3L5H2L")
END = struct.Struct("<4s4H2LH")
END64 = struct.Struct("<4sQ2H2L4Q")
LOCATOR64 = struct.Struct("<4sLQL")
DATE_1980 = 0x21
REGULAR_FILE = 0o100644 << 16
MADE_ON_UNIX = 3 << 8
MAX16, MAX32 = 0xFFFF, 0xFFFFFFFF


class Member(NamedTuple):
    """What the directory of an archive says of one member.

    Args:
        name: Its ASCII name.
        size: Its bytes.
        crc: Their CRC-32.
        offset: Where its local header begins.
    """

    name: str
    size: int
    crc: int
    offset: int


def local_header(name: str, size: int, crc: int) -> bytes:
    """The bytes that stand before the data of a member."""
    encoded = name.encode("ascii")
    return LOCAL.pack(b"PK\3\4", 20, 0, 0, 0, DATE_1980, crc, size, size, len(encoded), 0) + encoded


def member_span(name: str, size: int) -> int:
    """How many bytes a member takes, its local header included."""
    return LOCAL.size + len(name) + size


def directory(members: Iterable[Member], start: int) -> Iterator[bytes]:
    """The central directory and the end records.

    Args:
        members: All members, in the order of their offsets.
        start: Where the directory begins: the end of the last member.

    Yields:
        Its bytes, record by record.
    """
    count, end = 0, start
    for member in members:
        record = _central_record(member)
        count, end = count + 1, end + len(record)
        yield record
    yield _end_records(count, start, end)


def _central_record(member: Member) -> bytes:
    far = member.offset >= MAX32
    extra = struct.pack("<2HQ", 1, 8, member.offset) if far else b""
    version = 45 if far else 20
    name = member.name.encode("ascii")
    fixed = CENTRAL.pack(
        b"PK\1\2",
        MADE_ON_UNIX | version,
        version,
        *(0, 0, 0, DATE_1980),
        *(member.crc, member.size, member.size),
        *(len(name), len(extra), 0, 0, 0),
        REGULAR_FILE,
        MAX32 if far else member.offset,
    )
    return fixed + name + extra


def _end_records(count: int, start: int, end: int) -> bytes:
    size = end - start
    classic = END.pack(
        b"PK\5\6", 0, 0, min(count, MAX16), min(count, MAX16), min(size, MAX32), min(start, MAX32), 0
    )
    if count < MAX16 and size < MAX32 and start < MAX32:
        return classic
    big = END64.pack(b"PK\6\6", END64.size - 12, MADE_ON_UNIX | 45, 45, 0, 0, count, count, size, start)
    return big + LOCATOR64.pack(b"PK\6\7", 0, end, 1) + classic
