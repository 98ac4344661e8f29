"""Read the files of a source without unpacking it; whatever is not read as it was stored is an error."""

import errno
import os
import zlib
from functools import cache, partial
from pathlib import Path

from course_utils.data import FileStatus, without_waiting, zip_format
from course_utils.system import retry_transient
from data_setup.format import SetupError
from data_setup.sources.entries import STORED, FileLocation
from data_setup.sources.image_listing import open_same, require_same
from data_setup.sources.zip_entries import is_same_name, is_zip


def read_bytes(source: Path, location: FileLocation, listed: FileStatus | None = None) -> bytes:
    """Read a file of the source; retry transient errors of the filesystem.

    Args:
        source: Folder, tar or zip.
        location: Where the file is in it.
        listed: Status of the archive when it was listed, as of `ImageListing`.

    Raises:
        SetupError: It cannot be read, its checksum is wrong, or the archive is not the one that was listed.
            No other image replaces it: the set would be another one each time that a disk or a server fails.
    """
    try:
        return retry_transient(
            partial(_read, source, location, listed), partial(_discard_handle, source, listed)
        )
    except OSError as error:
        raise SetupError(
            f"{source}: {location.name} cannot be read ({error.strerror}). Repair the source, then run the "
            "same command again to resume."
        ) from error


def content_size(source: Path, location: FileLocation) -> int:
    """Return the size of a file of the source in bytes; only in a folder this asks the filesystem."""
    if source.is_dir():
        return (source / location.name).stat().st_size
    return location.length if _is_zip(source) else location.size


def _read(source: Path, location: FileLocation, listed: FileStatus | None) -> bytes:
    if source.is_dir():
        if listed:
            raise SetupError(f"{source} was a file when it was listed, and is a folder now")
        return _read_file(source / location.name)
    handle = _handle(source, listed)
    try:
        if _is_zip(source):
            return _read_from_zip(source, handle, location)
        return _read_at(handle, location.size, location.offset)
    finally:  # also explains what could not be read
        require_same(source, listed, handle)


def _read_file(path: Path) -> bytes:
    with open(path, "rb", buffering=0, opener=without_waiting) as file:
        data = file.readall() or b""
        if len(data) != os.fstat(file.fileno()).st_size:
            raise OSError(errno.EIO, f"only {len(data):,} bytes could be read")
    return data


def _read_at(handle: int, size: int, offset: int) -> bytes:
    data = os.pread(handle, size, offset)
    while len(data) < size:  # a read may be short
        more = os.pread(handle, size - len(data), offset + len(data))
        if not more:
            raise OSError(errno.EIO, "the archive ends before it")
        data += more
    return data


@cache
def _is_zip(source: Path) -> bool:
    """Return whether a source is a zip; each process checks once."""
    return is_zip(source)


_handles: dict[tuple[Path, FileStatus | None], int] = {}  # each process opens an archive once


def _handle(source: Path, listed: FileStatus | None) -> int:
    if (source, listed) not in _handles:
        _handles[source, listed] = open_same(source, listed)
    return _handles[source, listed]


def _discard_handle(source: Path, listed: FileStatus | None) -> None:
    """Close the handle of an archive: after ESTALE only a new one works."""
    if (source, listed) in _handles:
        os.close(_handles.pop((source, listed)))


def _read_from_zip(source: Path, handle: int, location: FileLocation) -> bytes:
    """Read one member with `pread`; `zipfile` would parse the central directory again in each worker."""
    name = location.name
    fixed = _read_at(handle, zip_format.LOCAL.size, location.offset)
    signature, *_, name_size, extra_size = zip_format.LOCAL.unpack(fixed)
    # The extra field here may be longer than the one in the central directory.
    start = location.offset + zip_format.LOCAL.size + name_size + extra_size
    found = _read_at(handle, name_size, location.offset + zip_format.LOCAL.size)
    if signature != zip_format.LOCAL_SIGNATURE or not is_same_name(found, name):
        raise _damaged(source, name, "its entry in the directory points to something else")
    data = _read_at(handle, location.size, start)
    if location.method != STORED:
        data = _inflate(data, location.length)
    if len(data) != location.length or zlib.crc32(data) != location.crc:
        raise _damaged(source, name, "its size or its CRC-32 differs from the one in the directory")
    return data


def _inflate(data: bytes, length: int) -> bytes:
    """Return at most one byte more than expected; nothing if the stream is damaged."""
    try:
        return zlib.decompressobj(-15).decompress(data, length + 1)
    except zlib.error:
        return b""


def _damaged(source: Path, name: str, reason: str) -> SetupError:
    return SetupError(
        f"{source}: {name} is damaged: {reason}. Download or copy the archive again, then run the same "
        "command again to resume."
    )
