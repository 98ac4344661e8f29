"""Keep pieces of an object in a folder of this node, with a checksum each."""

import hashlib
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from zlib_ng.zlib_ng import crc32

from course_utils.remote.range_reader import Identity, Ranges, outside
from course_utils.system import write_atomically

CHECKSUM = 4  # bytes at the end of each file
AT_A_TIME = 64  # pieces that are fetched before the first is written


class Reader(Protocol):
    """Reads ranges of an object: `RangeReader`, `CachedReader`."""

    url: str

    @property
    def identity(self) -> Identity:
        """Size and tag of the object."""

    @property
    def size(self) -> int:
        """Size of the object in bytes."""

    def read_at(self, offset: int, length: int) -> bytes:
        """Return so many bytes."""

    def read_many(self, ranges: Ranges, gap: int | None = None) -> list[bytes]:
        """Return the bytes of ranges, in their order."""

    def read_again(self, offset: int, length: int) -> bytes:
        """Return so many bytes from the server, whatever was kept of them: they were damaged."""


class CachedReader:
    """Reads whole pieces of an object, and keeps them in files; all processes of a node may share the folder.

    A piece is fetched again if its file is damaged or cut short. Another object under the same address has
    other files. Nothing is ever removed: the folder grows up to the size of all objects that were read. Where
    it cannot be written, as on a disk that is full, each read asks the server.

    Args:
        reader: Reads the object.
        folder: Where the pieces are kept, on a disk of this node: `$TMPDIR` of a job.
        piece: Bytes of a piece; whoever reads a byte fetches so many.
    """

    def __init__(self, reader: Reader, folder: str | Path, piece: int = 1 << 20) -> None:
        if piece < 1:
            raise ValueError(f"a piece of {piece} bytes: give at least 1")
        self.reader, self.folder, self.piece, self.url = reader, Path(folder), piece, reader.url
        self.folder.mkdir(parents=True, exist_ok=True)

    @property
    def identity(self) -> Identity:
        """Size and tag of the object."""
        return self.reader.identity

    @property
    def size(self) -> int:
        """Size of the object in bytes."""
        return self.reader.size

    def read_at(self, offset: int, length: int) -> bytes:
        """Return so many bytes; errors are those of the reader."""
        return self.read_many([(offset, length)])[0]

    def read_many(self, ranges: Ranges, gap: int | None = None) -> list[bytes]:
        """Return the bytes of ranges, in their order.

        Args:
            ranges: Offset and length of each.
            gap: Missing pieces between which at most so many bytes lie share a request.

        Raises:
            ValueError: A range does not lie within the object.
            OSError: As of the reader.
        """
        for offset, length in ranges:
            if min(offset, length) < 0 or offset + length > self.size:
                raise outside(self.url, offset, length, self.size)
        wanted = {number for one in ranges for number in self._pieces(*one)}
        pieces = {number: data for number in wanted if (data := self._kept(number)) is not None}
        pieces |= self._fetched(sorted(wanted - pieces.keys()), gap)
        return [self._cut(pieces, *one) for one in ranges]

    def read_again(self, offset: int, length: int) -> bytes:
        """Return so many bytes from the server, and keep them in place of those that were damaged."""
        pieces = self._fetched(list(self._pieces(offset, length)), None)
        return self._cut(pieces, offset, length)

    def _pieces(self, offset: int, length: int) -> range:
        return range(offset // self.piece, -(-(offset + length) // self.piece) if length else 0)

    def _cut(self, pieces: dict[int, bytes], offset: int, length: int) -> bytes:
        numbers = self._pieces(offset, length)
        start = offset - numbers.start * self.piece
        data = pieces[numbers[0]] if len(numbers) == 1 else b"".join(pieces[number] for number in numbers)
        return data[start : start + length]

    def _range(self, number: int) -> tuple[int, int]:
        start = number * self.piece
        return start, min(self.piece, self.size - start)

    def _fetched(self, numbers: list[int], gap: int | None) -> dict[int, bytes]:
        """Fetch pieces and keep them."""
        found = dict[int, bytes]()
        for first in range(0, len(numbers), AT_A_TIME):
            some = numbers[first : first + AT_A_TIME]
            found |= zip(some, self.reader.read_many(list(map(self._range, some)), gap), strict=True)
            for number in some:
                with suppress(OSError):  # a disk that is full: the next read asks the server again
                    write_atomically(self._path(number), _sealed(found[number]))
        return found

    def _kept(self, number: int) -> bytes | None:
        """Return a piece that was kept, unless it is damaged."""
        try:
            kept = self._path(number).read_bytes()
        except OSError:
            return None
        data, checksum = kept[:-CHECKSUM], kept[-CHECKSUM:]
        whole = len(data) == self._range(number)[1] and checksum == crc32(data).to_bytes(CHECKSUM, "little")
        return data if whole else None

    def _path(self, number: int) -> Path:
        name = hashlib.sha256(repr((self.url, *self.identity, self.piece)).encode()).hexdigest()[:16]
        return self.folder / f"{name}-{number:06d}"


def _sealed(data: bytes) -> Iterable[bytes]:
    return data, crc32(data).to_bytes(CHECKSUM, "little")
