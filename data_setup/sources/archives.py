"""List the image files of a folder, tar or zip once; an image that cannot be taken from it is an error."""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from data_setup.format import SetupError
from data_setup.sources.entries import Entry, FileLocation, Link, Unusable
from data_setup.sources.image_listing import ImageListing, require_same, status_of
from data_setup.sources.tar_entries import entries_of_tar
from data_setup.sources.zip_entries import entries_of_zip, is_zip

SUFFIXES = (".jpeg", ".jpg", ".png", ".webp", ".bmp", ".gif", ".tif", ".tiff")
MAX_NAMED = 5
MAX_LINKS = 40  # in a row, as in Linux


def list_images(source: Path) -> ImageListing:
    """List the image files of a source in the order of their names, without hidden files.

    Raises:
        FileNotFoundError: There is no such source.
        SetupError: It is no folder, tar or zip, is compressed as a whole, is damaged, has an image that
            cannot be taken or two of one name, has no images, or was changed meanwhile.
    """
    listed = status_of(source)
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
    images.skipped, images.status = skipped, listed
    require_same(source, listed)
    return images


def _entries(source: Path) -> Iterator[Entry]:
    if source.is_dir():
        return _in_folder(source, "", frozenset())
    return entries_of_zip(source) if is_zip(source) else entries_of_tar(source)


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
