"""The entries of a tar, each with the offset of its data; a damaged tar is an error."""

import posixpath
import tarfile
from collections.abc import Iterator
from pathlib import Path

from data_setup.format import SetupError
from data_setup.sources.entries import DAMAGE, Entry, FileLocation, Link, Unusable


def entries_of_tar(source: Path) -> Iterator[Entry]:
    """Yield the entries of an uncompressed tar in their order.

    Raises:
        SetupError: It is no tar, is compressed as a whole, is damaged or has no end.
    """
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
