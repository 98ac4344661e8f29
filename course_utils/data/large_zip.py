"""Write a stored zip of very many tiny members, to measure what opening such a zip costs."""

import zlib
from collections.abc import Iterator
from pathlib import Path

from course_utils.data.zip_format import Member, central_directory, local_header, member_span


def write_many_members(path: str | Path, count: int) -> None:
    """Write a zip of `count` stored members, `0000000000.item` and so on, each holding its own name.

    Args:
        path: The zip to write; about 120 bytes per member.
        count: Number of members; zip64 records are added where needed.
    """
    with Path(path).open("wb") as file:
        for member in _members(count):
            file.write(local_header(member.name, member.size, member.crc) + member.name.encode())
        file.writelines(central_directory(_members(count), file.tell()))


def _members(count: int) -> Iterator[Member]:
    offset = 0
    for i in range(count):
        name = f"{i:010d}.item"
        yield Member(name, len(name), zlib.crc32(name.encode()), offset)
        offset += member_span(name, len(name))
