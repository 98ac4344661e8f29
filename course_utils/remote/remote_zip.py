"""The index of a stored zip in an object store: the table of lesson 02, by ranges instead of `os.pread`."""

from collections.abc import Callable, Iterable
from zipfile import BadZipFile

from zlib_ng.zlib_ng import crc32

from course_utils.data.zips.member_table import Members, scan, stored_data
from course_utils.remote.cached_reader import Reader

TAIL = 1 << 18  # bytes fetched at once from the end, where the directory of a zip lies
TRIES = 4  # of a member whose checksum is wrong


class RemoteZip(Members):
    """Index of the members of a stored zip, sorted by name; any thread or process may read from it.

    Opening it takes a few requests: the end of the zip, its directory if that is longer, and the beginning of
    the first member. A pickle holds the table: workers ask for nothing.

    The directory of a zip has no checksum. If it is damaged on its way and still looks like one, a name or a
    place is wrong, and only a wrong place is found, when that member is read.

    Args:
        reader: Reads the zip.

    Attributes:
        table: As that of `ZipIndex`.

    Raises:
        ValueError: A member is compressed or encrypted, or two have the same name.
        BadZipFile: It is no zip, or is damaged.
        OSError: The server does not answer, or refuses.
    """

    def __init__(self, reader: Reader) -> None:
        self.reader = reader
        try:
            rows = scan(reader.url, _RemoteSource(reader, reader.read_at))
        except BadZipFile:  # perhaps damaged on its way
            rows = scan(reader.url, _RemoteSource(reader, reader.read_again))
        super().__init__(reader.url, rows[:-1])

    def read(self, i: int) -> memoryview:
        """Return the bytes of member `i`, which are read with one request.

        Raises:
            BadZipFile: They do not match the CRC in the directory, also when asked for again: the object is
                damaged.
            OSError: As of the reader.
        """
        return self.read_many([i])[0]

    def read_many(self, members: Iterable[int], gap: int | None = None) -> list[memoryview]:
        """Return the bytes of several members, in this order; errors are those of `read`.

        Args:
            members: Positions in the table.
            gap: Members between which at most so many bytes lie share a request; None for a request each.
        """
        wanted = [int(i) for i in members]
        found = self.reader.read_many([self._range(i) for i in wanted], gap)
        return [self._checked(i, data) for i, data in zip(wanted, found, strict=True)]

    def _range(self, i: int) -> tuple[int, int]:
        row = self.table[i]
        return int(row["offset"]), int(row["span"])

    def _checked(self, i: int, found: bytes) -> memoryview:
        """Return the data of a member; what was damaged on its way is asked for again."""
        _, _, _, size, crc = self.table[i].item()
        for attempt in range(TRIES):
            data = stored_data(self.reader.read_again(*self._range(i)) if attempt else found, size)
            if data is not None and crc32(data) == crc:
                return data
        raise BadZipFile(
            f"{self.reader.url}: {self.name(i)} has other bytes than when it was packed, also when asked for "
            "again; copy the object anew"
        )


class _RemoteSource:
    """An object as the source of a zip: its end is fetched at once, and the directory lies in it."""

    def __init__(self, reader: Reader, read_at: Callable[[int, int], bytes]) -> None:
        self._read_at, self.size = read_at, reader.size
        self._first = max(self.size - TAIL, 0)
        self._tail = read_at(self._first, self.size - self._first)

    def read_up_to(self, size: int, offset: int) -> bytes:
        stop = min(offset + size, self.size)
        if not 0 <= offset < stop:
            return b""
        return self.read_exactly(stop - offset, offset)

    def read_exactly(self, size: int, offset: int) -> bytes:
        if offset >= self._first:
            return self._tail[offset - self._first : offset - self._first + size]
        if offset + size > self._first:
            return self._read_at(offset, self._first - offset) + self._tail[: offset + size - self._first]
        return self._read_at(offset, size)
