"""Read the files of a source without unpacking it; whatever is not read as it was stored is an error."""

import errno
import os
import time
import zlib
from functools import cache
from pathlib import Path
from zipfile import is_zipfile

from course_utils.data import zip_format
from data_setup.format import SetupError
from data_setup.sources.entries import STORED, FileLocation
from data_setup.sources.zip_entries import is_same_name

# Errors of a disk or a server that may pass, and how long to wait before each retry, in seconds.
TRANSIENT = (errno.EIO, errno.ESTALE, errno.EAGAIN, errno.ETIMEDOUT, errno.ENOTCONN, errno.EREMOTEIO)
PAUSES = (0.05, 0.2, 1.0)


def read_bytes(source: Path, location: FileLocation) -> bytes:
    """Read a file of the source; retry transient errors of the filesystem.

    Raises:
        SetupError: It cannot be read, or its checksum is wrong. No other image replaces it: the set would be
            another one each time that a disk or a server fails.
    """
    for pause in (*PAUSES, None):
        try:
            return _read(source, location)
        except OSError as error:
            if pause is None or error.errno not in TRANSIENT:
                raise SetupError(
                    f"{source}: {location.name} cannot be read ({error.strerror}). Repair the source, then "
                    "run the same command again to resume."
                ) from error
            _discard_handle(source)
            time.sleep(pause)
    raise AssertionError("unreachable")


def content_size(source: Path, location: FileLocation) -> int:
    """Return the size of a file of the source in bytes; only in a folder this asks the filesystem."""
    if source.is_dir():
        return (source / location.name).stat().st_size
    return location.length if _is_zip(source) else location.size


def _read(source: Path, location: FileLocation) -> bytes:
    if source.is_dir():
        return _read_file(source / location.name)
    if _is_zip(source):
        return _read_from_zip(source, location)
    return _read_at(_handle(source), location.size, location.offset)


def _read_file(path: Path) -> bytes:
    with path.open("rb", buffering=0) as file:
        data = file.readall()
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
    return is_zipfile(source)


@cache
def _handle(source: Path) -> int:
    return os.open(source, os.O_RDONLY)


def _discard_handle(source: Path) -> None:
    """Close the handle of an archive: after ESTALE only a new one works."""
    if source.is_file() and _handle.cache_info().currsize:
        os.close(_handle(source))
        _handle.cache_clear()


def _read_from_zip(source: Path, location: FileLocation) -> bytes:
    """Read one member with `pread`; `zipfile` would parse the central directory again in each worker."""
    handle, name = _handle(source), location.name
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
