"""What a folder, a tar or a zip holds: files, links and what cannot be read."""

import struct
import tarfile
import zipfile
import zlib
from typing import NamedTuple

STORED, DEFLATED = zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED
# What tarfile and zipfile raise for damaged headers.
DAMAGE = (
    *(tarfile.TarError, zipfile.BadZipFile, zlib.error, struct.error),
    *(NotImplementedError, RuntimeError, ValueError, OverflowError, LookupError, EOFError),
)


class FileLocation(NamedTuple):
    """Where the bytes of a file are stored.

    Args:
        name: Its path in the source, with forward slashes.
        offset: Offset of its data in a tar, of its local header in a zip; 0 in a folder.
        size: Number of bytes stored there; 0 in a folder.
        method: Compression method in a zip.
        crc: CRC-32 in a zip.
        length: Number of bytes after decompression in a zip.
    """

    name: str
    offset: int = 0
    size: int = 0
    method: int = STORED
    crc: int = 0
    length: int = 0


class Link(NamedTuple):
    """A member of a tar that refers to another by its name."""

    name: str
    target: str


class Unusable(NamedTuple):
    """A file that cannot be read as an image file, and why."""

    name: str
    reason: str


Entry = FileLocation | Link | Unusable
