"""A shard: its two archives, and a record of its images, which is written last and says that it is finished.

A shard that is interrupted is made again from its beginning; finished ones are kept.
"""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import NamedTuple, TypedDict, cast
from zipfile import ZipFile, ZipInfo

from course_utils.data import INFO_NAME, PackInfo, RawLayout
from course_utils.system import sync_filesystem, write_atomically
from data_setup.format import ENCODED, RAW, SIDE, StagingDirectory, file_sha256

LAYOUTS = {ENCODED: None, RAW: RawLayout("HWC", (SIDE, SIDE, 3))}  # by form


class ImageRecord(NamedTuple):
    """An image that is in all three forms.

    It holds no pixels, so that a worker's report on a chunk fits into a pipe and is written at once: a worker
    that is killed halfway through a message leaves its reader waiting for the rest.

    Args:
        name: Name of the JPEG file, and of both members.
        label: Its label.
        size: Size of the JPEG file in bytes.
        sha256: Hash of the JPEG file, in hexadecimal digits.
        origin: The file of the source that it was made from; a worker leaves this None.
        notes: What was odd about that file.
    """

    name: str
    label: int
    size: int
    sha256: str
    origin: str | None
    notes: Sequence[str]


class PartSummary(TypedDict):
    """Size in bytes and hash of an archive."""

    bytes: int
    sha256: str


class ShardSummary(TypedDict):
    """First line of a shard's record: `handled` counts converted odd files by kind, `parts` are by form."""

    images: int
    jpeg_bytes: int
    handled: dict[str, int]
    oddities: list[str]
    parts: dict[str, PartSummary]


class Shard:
    """Packs a shard; takes 1 KB of memory for each of its images.

    Args:
        staging: Where the set is made.
        number: Which shard.

    Attributes:
        oddities: What was unreadable, and what replaced it.
    """

    def __init__(self, staging: StagingDirectory, number: int) -> None:
        self._staging, self._number = staging, number
        self._images: list[ImageRecord] = []
        self.oddities: list[str] = []
        self._archives: dict[str, ZipFile] = {}
        try:
            for form in LAYOUTS:
                self._archives[form] = ZipFile(staging.part(form, number), "w")
        except BaseException:
            self.close()
            raise

    def add(self, image: ImageRecord, pixels: memoryview) -> None:
        """Append an image, whose JPEG file is on disk, to both archives."""
        jpeg = (self._staging.jpegs / image.name).read_bytes()
        self._archives[ENCODED].writestr(ZipInfo(image.name), jpeg)
        self._archives[RAW].writestr(ZipInfo(image.name), pixels)
        self._images.append(image)

    def finish(self) -> None:
        """Complete both archives, flush everything to disk, then write the record."""
        labels = {image.name: image.label for image in self._images}
        for form, layout in LAYOUTS.items():
            self._archives[form].writestr(ZipInfo(INFO_NAME), PackInfo(labels, layout).to_json())
            self._archives[form].close()
        lines = [self._summary(), *self._images]
        sync_filesystem(self._staging.jpegs)  # else a power cut would leave empty files beside the record
        record = self._staging.record(self._number)
        write_atomically(record, (json.dumps(line).encode() + b"\n" for line in lines))

    def _summary(self) -> ShardSummary:
        paths = {form: self._staging.part(form, self._number) for form in LAYOUTS}
        return {
            "images": len(self._images),
            "jpeg_bytes": sum(image.size for image in self._images),
            "handled": Counter(note for image in self._images for note in image.notes),
            "oddities": self.oddities,
            "parts": {
                form: {"bytes": path.stat().st_size, "sha256": file_sha256(path)}
                for form, path in paths.items()
            },
        }

    def close(self) -> None:
        """Close both archives; those of an interrupted shard are incomplete."""
        for archive in self._archives.values():
            with suppress(OSError, ValueError):  # of a full disk, which the caller has been told about
                archive.close()


def read_summary(staging: StagingDirectory, number: int) -> ShardSummary:
    """Return the summary of a finished shard."""
    with staging.record(number).open() as record:
        return cast(ShardSummary, json.loads(record.readline()))


def read_images(staging: StagingDirectory, number: int) -> Iterator[ImageRecord]:
    """Read the images of a finished shard in order."""
    with staging.record(number).open() as record:
        record.readline()
        for line in record:
            yield ImageRecord(*json.loads(line))


def is_shard_finished(staging: StagingDirectory, number: int) -> bool:
    """Return whether a shard has its record and all files that the record names, of the right sizes.

    The record of a shard that lacks anything is removed, so that the shard is made again.
    """
    if staging.manifest.exists():  # some forms may have their final names already
        return staging.record(number).exists()
    try:
        summary = read_summary(staging, number)
        sizes = [(staging.part(form, number), part["bytes"]) for form, part in summary["parts"].items()]
        sizes += [(staging.jpegs / image.name, image.size) for image in read_images(staging, number)]
        is_whole = len(sizes) == len(LAYOUTS) + summary["images"]
        if is_whole and all(path.stat().st_size == size for path, size in sizes):
            return True
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        pass
    staging.record(number).unlink(missing_ok=True)
    return False
