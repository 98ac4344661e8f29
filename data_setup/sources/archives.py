"""The image files of a folder, a tar or a zip: listed once, then each read alone, without unpacking."""

import os
import struct
import tarfile
import zipfile
import zlib
from array import array
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from course_utils.data import zip_format
from data_setup.format import SetupError, UnreadableError

SUFFIXES = (".jpeg", ".jpg", ".png", ".webp", ".bmp", ".gif", ".tif", ".tiff")
STORED, DEFLATED = zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED


class Place(NamedTuple):
    """Where the bytes of a file are.

    Args:
        name: Its path in the source, with forward slashes.
        offset: In a tar, where its data begins; in a zip, where its local header begins; in a folder 0.
        size: How many bytes are stored there; in a folder 0, for all.
        method: How a zip has compressed them.
    """

    name: str
    offset: int = 0
    size: int = 0
    method: int = STORED


class Listing:
    """Many places in little memory: some 50 bytes each, where the tuples take 300.

    Args:
        places: In any order; they are kept in the order of their names.
    """

    def __init__(self, places: Iterable[Place]) -> None:
        names, numbers = [], array("q")
        for place in places:
            names.append(place.name.encode("utf-8", "surrogateescape"))
            numbers.extend(place[1:])
        self._names = np.array(names, np.bytes_)
        order = np.argsort(self._names, kind="stable")
        self._names = self._names[order]
        self._numbers = np.frombuffer(numbers, np.int64).reshape(-1, 3)[order]

    def __len__(self) -> int:
        return len(self._names)

    def __getitem__(self, index: int) -> Place:
        return Place(self.name(index), *map(int, self._numbers[index]))

    def name(self, index: int) -> str:
        """The name at an index."""
        return self._names[index].decode("utf-8", "surrogateescape")

    def names(self) -> Iterator[str]:
        """All names, sorted."""
        return map(self.name, range(len(self)))


def list_images(source: Path) -> Listing:
    """List the image files of a source in the order of their names; hidden files do not count.

    Raises:
        FileNotFoundError: There is no such source.
        SetupError: It is neither folder nor tar nor zip, is compressed as a whole, is cut off, or holds none.
    """
    if source.is_dir():
        places = _in_folder(source)
    elif zipfile.is_zipfile(source):
        places = _in_zip(source)
    else:
        places = _in_tar(source)
    images = Listing(place for place in places if _is_image(place.name))
    if not len(images):
        raise SetupError(f"{source} holds no image files ({', '.join(SUFFIXES)})")
    return images


def _is_image(name: str) -> bool:
    return name.lower().endswith(SUFFIXES) and not any(part.startswith(".") for part in name.split("/"))


def _in_folder(source: Path) -> Iterator[Place]:
    for folder, _, names in os.walk(source):
        inner = Path(folder).relative_to(source)
        yield from (Place((inner / name).as_posix()) for name in names)


def _in_tar(source: Path) -> Iterator[Place]:
    try:
        with tarfile.open(source, "r:") as tar:
            for member in tar:
                if member.isreg() and not member.issparse():
                    yield Place(member.name.removeprefix("./"), member.offset_data, member.size)
                tar.members.clear()  # tarfile keeps them all: 2 GB for the training set of ImageNet
    except tarfile.ReadError as error:
        raise SetupError(
            f"{source} is no complete, uncompressed tar, no zip and no folder ({error}). Is the download "
            "finished? A .tar.gz has to become a .tar first (gunzip)."
        ) from error


def _in_zip(source: Path) -> Iterator[Place]:
    with zipfile.ZipFile(source) as archive:
        for member in archive.infolist():
            if member.is_dir():
                continue
            if member.flag_bits & 1 or member.compress_type not in (STORED, DEFLATED):
                raise SetupError(f"{source}: {member.filename} is encrypted or not stored or deflated")
            yield Place(member.filename, member.header_offset, member.compress_size, member.compress_type)


def read_bytes(source: Path, place: Place) -> bytes:
    """Read a file of the source.

    Raises:
        UnreadableError: The source does not give it.
    """
    try:
        if source.is_dir():
            return (source / place.name).read_bytes()
        if zipfile_like(source):
            return _read_from_zip(_handle(source), place)
        return os.pread(_handle(source), place.size, place.offset)
    except (OSError, zlib.error, struct.error) as error:
        raise UnreadableError(f"cannot be read ({error})") from error


@cache
def zipfile_like(source: Path) -> bool:
    """Say whether a source is a zip; looked at once a process."""
    return zipfile.is_zipfile(source)


@cache
def _handle(source: Path) -> int:
    return os.open(source, os.O_RDONLY)


def _read_from_zip(handle: int, place: Place) -> bytes:
    header = zip_format.LOCAL.unpack(os.pread(handle, zip_format.LOCAL.size, place.offset))
    # The local header counts: its extra field may be longer than the one in the directory.
    start = place.offset + zip_format.LOCAL.size + header[-2] + header[-1]
    data = os.pread(handle, place.size, start)
    return data if place.method == STORED else zlib.decompress(data, -15)
