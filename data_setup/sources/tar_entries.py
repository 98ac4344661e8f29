"""The entries of a tar, each with the offset of its data; a damaged tar is an error."""

import os
import posixpath
import tarfile
from collections.abc import Iterator
from pathlib import Path

from course_utils.data import open_regular_file, open_tar
from data_setup.format import SetupError
from data_setup.sources.entries import DAMAGE, Entry, FileLocation, Link, Unusable


def entries_of_tar(source: Path) -> Iterator[Entry]:
    """Yield the entries of an uncompressed tar in their order.

    Raises:
        SetupError: It is no tar, is compressed as a whole, is damaged or has no end.
    """
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
