"""Read the files of a source without unpacking it; whatever is not read as it was stored is an error."""

import os
import zlib
from functools import partial
from pathlib import Path

from course_utils.data import ChangedFileError, FileStatus, open_regular_file, read_exactly, read_regular_file
from course_utils.system import retry_transient
from data_setup.format.errors import SetupError
from data_setup.sources.archives import STORED, FileLocation
from data_setup.sources.listing import require_same

_handles: dict[tuple[Path, FileStatus], int] = {}  # each process opens an archive once


def read_bytes(source: Path, location: FileLocation, listed: FileStatus | None) -> bytes:
    """Read a file of the source; retry transient errors of the file system.

    Args:
        source: Folder, tar or zip.
        location: Where the file is in it.
        listed: Status of the archive when it was listed; None for a folder.

    Raises:
        SetupError: It cannot be read, its checksum is wrong, or the archive is not the one that was listed.
            No other image replaces it: the set would be another one each time that a disk or a server fails.
    """
    try:
        if listed is None:
            return read_regular_file(source / location.name, "image")
        read, discard = partial(_read, source, location, listed), partial(_discard_handle, source, listed)
        data = retry_transient(read, discard)
    except OSError as error:
        raise SetupError(
            f"{source}: {location.name} cannot be read ({error.strerror}). Repair the source, then run the "
            "same command again to resume."
        ) from error
    if location.method != STORED:
        data = _inflate(data, location.length)
    if len(data) != location.length or location.crc not in (None, zlib.crc32(data)):
        raise SetupError(
            f"{source}: {location.name} is damaged: its size or its CRC-32 differs from the one in the "
            "directory. Download or copy the archive again, then run the same command again to resume."
        )
    return data


def _read(source: Path, location: FileLocation, listed: FileStatus) -> bytes:
    if (source, listed) not in _handles:
        _handles[source, listed] = open_regular_file(source, "archive")
    handle = _handles[source, listed]
    try:
        require_same(source, listed, handle)
        return read_exactly(handle, location.size, location.offset, source)
    except ChangedFileError:  # it ends before the file does
        return b""
    finally:  # also explains what could not be read
        require_same(source, listed, handle)


def _discard_handle(source: Path, listed: FileStatus) -> None:
    """Close the handle of an archive: after ESTALE only a new one works."""
    if (source, listed) in _handles:
        os.close(_handles.pop((source, listed)))


def _inflate(data: bytes, length: int) -> bytes:
    """Return at most one byte more than expected; nothing if the stream is damaged."""
    try:
        return zlib.decompressobj(-15).decompress(data, length + 1)
    except zlib.error:
        return b""
