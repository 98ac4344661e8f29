"""List the image files of a folder, tar or zip once; an image that cannot be taken from it is an error."""

import os
import posixpath
import stat
import struct
import tarfile
import zipfile
import zlib
from array import array
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from course_utils.data import zip_format
from data_setup.format import SetupError

SUFFIXES = (".jpeg", ".jpg", ".png", ".webp", ".bmp", ".gif", ".tif", ".tiff")
STORED, DEFLATED = zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED
MAX_NAMED = 5
MAX_NAME = 200  # bytes of a name that are read together with its header
MAX_LINKS = 40  # in a row, as in Linux
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


class ImageListing:
    """File locations sorted by name, in about 70 bytes each instead of 400 for tuples.

    Args:
        locations: In any order.

    Attributes:
        skipped: Names of files that are no images by their names, without hidden ones.
    """

    def __init__(self, locations: Iterable[FileLocation]) -> None:
        self.skipped: list[str] = []
        names, numbers = [], array("q")
        for location in locations:
            names.append(_encoded(location.name))
            numbers.extend(location[1:])
        self._names = np.array(names, np.bytes_)
        order = np.argsort(self._names, kind="stable")
        self._names = self._names[order]
        self._numbers = np.frombuffer(numbers, np.int64).reshape(-1, len(FileLocation._fields) - 1)[order]

    def __len__(self) -> int:
        return len(self._names)

    def __getitem__(self, index: int) -> FileLocation:
        return FileLocation(self.name(index), *map(int, self._numbers[index]))

    def name(self, index: int) -> str:
        """Return the name at an index."""
        encoded: bytes = self._names[index]
        return encoded.decode("utf-8", "surrogateescape")

    def names(self) -> Iterator[str]:
        """Iterate over all names, sorted."""
        return map(self.name, range(len(self)))

    def find(self, name: str) -> FileLocation | None:
        """Return the file of a name, or None."""
        index = self._position(name)
        return self[index] if index < len(self) and self.name(index) == name else None

    def has_folder(self, name: str) -> bool:
        """Return whether there are files in a folder."""
        index = self._position(f"{name}/")
        return index < len(self) and self.name(index).startswith(f"{name}/")

    def _position(self, name: str) -> int:
        return int(np.searchsorted(self._names, np.bytes_(_encoded(name))))

    def duplicates(self) -> Iterator[str]:
        """Iterate over the names that occur more than once."""
        return map(self.name, np.flatnonzero(self._names[1:] == self._names[:-1]).tolist())


def _encoded(name: str) -> bytes:
    return name.encode("utf-8", "surrogateescape")


def list_images(source: Path) -> ImageListing:
    """List the image files of a source in the order of their names, without hidden files.

    Raises:
        FileNotFoundError: There is no such source.
        SetupError: It is no folder, tar or zip, is compressed as a whole, is damaged, has an image that
            cannot be taken or two of one name, or has no images.
    """
    links: list[Link] = []
    unusable: list[Unusable] = []
    skipped: list[str] = []
    images = ImageListing(_sort_out(_entries(source), links, unusable, skipped))
    if links:
        images = ImageListing(
            [*map(images.__getitem__, range(len(images))), *_resolve(images, links, unusable)]
        )
    if unusable:
        raise SetupError(_refusal(source, "files that cannot be used", [": ".join(one) for one in unusable]))
    if duplicates := list(images.duplicates()):
        raise SetupError(_refusal(source, "names that occur more than once", duplicates))
    if not len(images):
        raise SetupError(f"{source} has no image files ({', '.join(SUFFIXES)})")
    images.skipped = skipped
    return images


def _entries(source: Path) -> Iterator[Entry]:
    if source.is_dir():
        return _in_folder(source, "", frozenset())
    return _in_zip(source) if zipfile.is_zipfile(source) else _in_tar(source)


def _sort_out(
    entries: Iterable[Entry], links: list[Link], unusable: list[Unusable], skipped: list[str]
) -> Iterator[FileLocation]:
    """Yield the locations of images; append what needs a closer look to the lists."""
    for entry in entries:
        if isinstance(entry, Link):
            links.append(entry)
        elif is_image_name(entry.name):
            if isinstance(entry, FileLocation):
                yield entry
            else:
                unusable.append(entry)
        elif not is_hidden(entry.name):
            skipped.append(entry.name)


def is_image_name(name: str) -> bool:
    """Return whether a file is an image by its name, and not hidden."""
    return name.lower().endswith(SUFFIXES) and not is_hidden(name)


def is_hidden(name: str) -> bool:
    """Return whether a file or a folder around it is hidden."""
    return any(part.startswith(".") for part in name.split("/"))


def _resolve(images: ImageListing, links: list[Link], unusable: list[Unusable]) -> Iterator[FileLocation]:
    """Yield the images that links refer to, each under the name of its link."""
    targets = dict(links)
    for name, target in links:
        for _ in range(MAX_LINKS):
            target = targets.get(target, target)
        found = images.find(target)
        if found and is_image_name(name):
            yield found._replace(name=name)
        elif is_image_name(name) or images.has_folder(target):
            unusable.append(Unusable(name, f"a link to {target}"))


def _refusal(source: Path, what: str, found: list[str]) -> str:
    more = len(found) - MAX_NAMED
    listed = "; ".join(found[:MAX_NAMED]) + (f"; and {more:,} more" if more > 0 else "")
    return f"{source} has {len(found):,} {what}: {listed}. Repair or remove them, so that no image is lost."


def _in_folder(folder: Path, inner: str, above: frozenset[tuple[int, int]]) -> Iterator[Entry]:
    """Yield the files of a folder and of those inside; `above` are the inodes of the folders around it."""
    try:
        status = folder.stat()
        if (status.st_dev, status.st_ino) in above:
            return  # a link to a folder around it, whose images are listed there
        above |= {(status.st_dev, status.st_ino)}
        with os.scandir(folder) as entries:
            for entry in entries:
                name = inner + entry.name
                if entry.is_dir():
                    if not entry.name.startswith("."):
                        yield from _in_folder(folder / entry.name, f"{name}/", above)
                elif entry.is_file():
                    yield FileLocation(name)
                else:
                    reason = "a link without a target" if entry.is_symlink() else "not a regular file"
                    yield Unusable(name, reason)
    except OSError as error:
        raise SetupError(
            f"{error.filename or folder} cannot be read ({error.strerror}); its images would be lost"
        ) from error


def _in_tar(source: Path) -> Iterator[Entry]:
    try:
        with tarfile.open(source, "r:") as tar:
            for member in tar:
                yield from _in_member(member)
                # tarfile keeps all members: 2 GB for the training set of ImageNet. The stub lacks them.
                tar.members.clear()  # type: ignore[attr-defined]
            end = tar.offset
    except DAMAGE as error:
        raise SetupError(
            f"{source} is not a complete, uncompressed tar, a zip or a folder ({error}). Is the download "
            "finished? Decompress a .tar.gz first (gunzip)."
        ) from error
    _require_end_of_tar(source, end)


def _in_member(member: tarfile.TarInfo) -> Iterator[Entry]:
    name = member.name.removeprefix("./")
    if member.islnk():
        yield Link(name, posixpath.normpath(member.linkname))
    elif member.issym():
        yield Link(name, posixpath.normpath(posixpath.join(posixpath.dirname(name), member.linkname)))
    elif member.issparse():
        yield Unusable(name, "a sparse file")
    elif member.isreg():
        yield FileLocation(name, member.offset_data, member.size)
    elif not member.isdir():
        yield Unusable(name, "not a regular file")


def _require_end_of_tar(source: Path, end: int) -> None:
    """Check for the zeros that end a tar; `tarfile` takes a damaged header for the end as well."""
    with source.open("rb") as file:
        file.seek(end)
        block = file.read(tarfile.BLOCKSIZE)
        complete = len(block) == tarfile.BLOCKSIZE
        while complete and block:
            complete, block = not any(block), file.read(1 << 20)
    if not complete:
        raise SetupError(
            f"{source} is damaged or incomplete: after {end:,} bytes comes neither a file nor the end of the "
            "archive. Download or copy it again; unpack tars that were concatenated and pack them as one."
        )


def _in_zip(source: Path) -> Iterator[Entry]:
    try:
        with zipfile.ZipFile(source) as archive:
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
    handle = os.open(source, os.O_RDONLY)
    try:
        for member in members:
            if not is_same_name(_local_name(handle, member.header_offset), member.filename):
                raise SetupError(
                    f"{source}: {member.filename} is damaged: its entry in the directory points to something "
                    "else. Download or copy the archive again."
                )
        # The directory of concatenated zips lists only the members of the last one.
        hidden = all(member.header_offset for member in members) and _local_name(handle, 0)
    finally:
        os.close(handle)
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
