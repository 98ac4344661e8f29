"""What a tar or a zip holds, and where its data lies; a damaged archive is an error."""

import os
import stat
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from course_utils.data import RegularZipFile, open_regular_file, open_tar
from course_utils.data.zips.zip_format import LOCAL, LOCAL_SIGNATURE
from data_setup.format.errors import SetupError

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
        offset: Offset of its data in the archive; 0 in a folder, as the numbers below.
        size: Number of bytes stored there.
        length: Number of bytes after decompression.
        method: Compression method of a zip.
        crc: CRC-32 in a zip; None elsewhere.
    """

    name: str
    offset: int = 0
    size: int = 0
    length: int = 0
    method: int = STORED
    crc: int | None = None


class Unusable(NamedTuple):
    """A file that cannot be read as an image file, and why."""

    name: str
    reason: str


Entry = FileLocation | Unusable


def entries_of_archive(source: Path) -> Iterator[Entry]:
    """Yield the entries of an uncompressed tar, or of a zip.

    Raises:
        SetupError: It is neither, is compressed as a whole, is damaged, or lists other members than it holds.
    """
    if zipfile.is_zipfile(source):
        try:
            yield from _in_zip(source)
        except DAMAGE as error:
            raise SetupError(
                f"{source} is not a complete zip ({error}). Download or copy it again; unpack zips that were "
                "concatenated and pack them as one."
            ) from error
        return
    try:
        with os.fdopen(open_regular_file(source, "tar"), "rb") as file, open_tar(file) as tar:
            for member in tar:
                yield from _in_member(member)
                # tarfile keeps all members: 2 GB for the training set of ImageNet. The stub lacks them.
                tar.members.clear()  # type: ignore[attr-defined]
    except DAMAGE as error:
        raise SetupError(
            f"{source} is not a complete, uncompressed tar, a zip or a folder ({error}). Is the download "
            "finished? Decompress a .tar.gz first (gunzip); unpack tars that were concatenated and pack them "
            "as one."
        ) from error


def _in_member(member: tarfile.TarInfo) -> Iterator[Entry]:
    name = member.name.removeprefix("./")
    if member.islnk() or member.issym():
        yield Unusable(name, f"a link to {member.linkname}; pack files, as `tar --hard-dereference -h` does")
    elif member.issparse():
        yield Unusable(name, "a sparse file")
    elif member.isreg():
        yield FileLocation(name, member.offset_data, member.size, member.size)
    elif not member.isdir():
        yield Unusable(name, "not a regular file")


def _in_zip(source: Path) -> Iterator[Entry]:
    with RegularZipFile(source) as archive:
        members = archive.infolist()
        # zipfile ignores this count, and misses members after a damaged length. The stub lacks it.
        count = zipfile._EndRecData(archive.fp)[4]  # type: ignore[attr-defined]
        if len(members) != count:
            raise zipfile.BadZipFile(f"it lists {len(members):,} of {count:,} members")
        if members and min(member.header_offset for member in members) > 0:
            raise zipfile.BadZipFile("it begins with something that its directory does not list")
        for member in members:
            if stat.S_ISLNK(member.external_attr >> 16):
                yield Unusable(member.filename, "a link")
            elif member.flag_bits & 1:
                yield Unusable(member.filename, "encrypted")
            elif member.compress_type not in (STORED, DEFLATED):
                yield Unusable(member.filename, "neither stored nor deflated")
            elif not member.is_dir():
                start = _data_offset(archive, member)
                sizes = member.compress_size, member.file_size
                yield FileLocation(member.filename, start, *sizes, member.compress_type, member.CRC)


def _data_offset(archive: RegularZipFile, member: zipfile.ZipInfo) -> int:
    """Return the offset of a member's data.

    The directory has no checksum, so the name in it is compared with the one before the member: a wrong one
    would hide an image, or change its position and with it the label of each later one.
    """
    fd, at = archive.fp.fileno(), member.header_offset  # type: ignore[union-attr]  # it is open
    header = os.pread(fd, LOCAL.size, at) if at >= 0 else b""
    signature, *_, name_size, extra_size = LOCAL.unpack(header)
    found, name = os.pread(fd, name_size, at + len(header)), member.filename
    # Without the UTF-8 flag a name is in the code page of DOS.
    names = name.encode("utf-8", "surrogateescape"), name.encode("cp437", "replace")
    if signature != LOCAL_SIGNATURE or found not in names:
        raise zipfile.BadZipFile(f"the entry of {name} in its directory points to something else")
    return at + len(header) + int(name_size + extra_size)
