"""List the image files of a folder, tar or zip once; an image that cannot be taken from it is an error."""

import os
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from course_utils.data import FileStatus, named
from data_setup.format.errors import SetupError
from data_setup.format.layout import first_of
from data_setup.sources.archives import Entry, FileLocation, Unusable, entries_of_archive

SUFFIXES = (".jpeg", ".jpg", ".png", ".webp", ".bmp", ".gif", ".tif", ".tiff")
MAX_NAMED = 5


class Listing(NamedTuple):
    """The image files of a source, without hidden ones.

    Args:
        files: Sorted by name.
        skipped: Names of files that are no images by their names.
        status: What identifies the archive that was listed, as a tar has no checksums: offsets in another one
            would give other pictures under the labels. None for a folder.
    """

    files: list[FileLocation]
    skipped: list[str]
    status: FileStatus | None


def list_images(source: Path) -> Listing:
    """List the image files of a source.

    Raises:
        FileNotFoundError: There is no such source.
        SetupError: It is no folder, tar or zip, is compressed as a whole, is damaged, has a file that cannot
            be taken or two of one name, has no images, or was changed meanwhile.
    """
    status = None if source.is_dir() else FileStatus.of(source)
    if status and not source.is_file():
        raise SetupError(f"{source} is neither a folder nor a file; save the archive as a file first")
    files: list[FileLocation] = []
    skipped, unusable = [], []
    try:
        for entry in entries_of_archive(source) if status else _in_folder(source, "", frozenset()):
            if any(part.startswith(".") for part in entry.name.split("/")):
                continue
            if isinstance(entry, Unusable):
                unusable.append(": ".join(entry))
            elif entry.name.lower().endswith(SUFFIXES):
                files.append(entry)
            else:
                skipped.append(entry.name)
    except OSError as error:
        raise named(error, source) from error
    files.sort(key=lambda file: os.fsencode(file.name))
    _refuse(source, "files that cannot be used", unusable)
    _refuse(
        source, "names that occur more than once", [a.name for a, b in pairwise(files) if a.name == b.name]
    )
    if not files:
        raise SetupError(f"{source} has no image files ({', '.join(SUFFIXES)})")
    require_same(source, status, source)
    return Listing(files, skipped, status)


def _refuse(source: Path, what: str, found: list[str]) -> None:
    if found:
        raise SetupError(
            f"{source} has {len(found):,} {what}: {first_of(found, MAX_NAMED, '; ')}. Repair or remove them, "
            "so that no image is lost."
        )


def require_same(source: Path, listed: FileStatus | None, file: int | Path) -> None:
    """Check that an archive, given its path or its descriptor, has not changed since it was listed.

    Raises:
        SetupError: It has.
    """
    if listed and FileStatus.of(file) != listed:
        raise SetupError(
            f"{source} was changed or replaced while it was being read. When it is complete, run the same "
            "command again to resume."
        )


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
