"""The entries of a zip, each with the offset of its local header; a damaged zip is an error."""

import os
import stat
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from course_utils.data import named, zip_format
from data_setup.format import SetupError
from data_setup.sources.entries import DAMAGE, DEFLATED, STORED, Entry, FileLocation, Unusable
from data_setup.sources.image_listing import open_same

MAX_NAME = 200  # bytes of a name that are read together with its header


@contextmanager
def _naming(source: Path) -> Iterator[None]:
    """Name the archive in an error of the disk, which knows a descriptor at most."""
    try:
        yield
    except OSError as error:
        raise named(error, source) from error


def is_zip(source: Path) -> bool:
    """Return whether a file is a zip; SetupError if it is no file."""
    with _naming(source), os.fdopen(open_same(source, None), "rb") as file:
        return zipfile.is_zipfile(file)


def entries_of_zip(source: Path) -> Iterator[Entry]:
    """Yield the entries of a zip in the order of its directory.

    Raises:
        SetupError: It is damaged, or its directory does not describe its members.
    """
    try:
        with (
            _naming(source),
            os.fdopen(open_same(source, None), "rb") as file,
            zipfile.ZipFile(file) as archive,
        ):
            members = archive.infolist()
            # zipfile ignores this count, and misses members after a damaged length. The stub lacks it.
            count = zipfile._EndRecData(archive.fp)[4]  # type: ignore[attr-defined]
    except DAMAGE as error:
        raise SetupError(f"{source} is not a complete zip ({error}). Download or copy it again.") from error
    if len(members) != count:
        raise SetupError(f"{source} lists {len(members):,} of {count:,} members. Download or copy it again.")
    _require_same_names(source, members)
    for member in members:
        if stat.S_ISLNK(member.external_attr >> 16):
            yield Unusable(member.filename, "a link")
        elif member.flag_bits & 1:
            yield Unusable(member.filename, "encrypted")
        elif member.compress_type not in (STORED, DEFLATED):
            yield Unusable(member.filename, "neither stored nor deflated")
        elif not member.is_dir():
            yield FileLocation(
                *(member.filename, member.header_offset, member.compress_size),
                *(member.compress_type, member.CRC, member.file_size),
            )


def _require_same_names(source: Path, members: list[zipfile.ZipInfo]) -> None:
    """Compare the names in the directory, which has no checksum, with those before the members.

    A wrong name would hide an image, or change its position and with it the label of each later one.
    """
    with _naming(source), os.fdopen(open_same(source, None), "rb") as file:
        handle = file.fileno()
        for member in members:
            if not is_same_name(_local_name(handle, member.header_offset), member.filename):
                raise SetupError(
                    f"{source}: {member.filename} is damaged: its entry in the directory points to something "
                    "else. Download or copy the archive again."
                )
        # The directory of concatenated zips lists only the members of the last one.
        hidden = all(member.header_offset for member in members) and _local_name(handle, 0)
    if hidden:
        raise SetupError(
            f"{source} has members that its directory does not list. Unpack it, or the zips that were "
            "concatenated, and pack all files as one zip."
        )


def _local_name(handle: int, offset: int) -> bytes:
    """Return the name in a local header; empty if there is no header."""
    if offset < 0:  # zipfile computes that for a damaged directory
        return b""
    header = os.pread(handle, zip_format.LOCAL.size + MAX_NAME, offset)
    if len(header) < zip_format.LOCAL.size or not header.startswith(zip_format.LOCAL_SIGNATURE):
        return b""
    size = zip_format.LOCAL.unpack_from(header)[-2]
    if size > MAX_NAME:
        return os.pread(handle, size, offset + zip_format.LOCAL.size)
    return header[zip_format.LOCAL.size :][:size]


def is_same_name(found: bytes, name: str) -> bool:
    """Return whether the bytes in a local header are a name of the directory."""
    # Without the UTF-8 flag a name is in the code page of DOS.
    return found in (name.encode("utf-8", "surrogateescape"), name.encode("cp437", "replace"))
