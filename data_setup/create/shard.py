"""Pack the images of a shard into its archives, and write its record: what the manifest will say about it."""

import json
from collections.abc import Iterable
from contextlib import ExitStack
from typing import NamedTuple
from zipfile import ZipFile, ZipInfo

from course_utils.data import INFO_NAME, PackInfo, RawLayout
from course_utils.system import sync_filesystem, write_atomically
from data_setup.create.render import ImageRecord
from data_setup.create.staging import Staging
from data_setup.format.layout import ENCODED, RAW, SIDE, part_name
from data_setup.format.manifest import FileEntry, file_sha256

LAYOUTS = {RAW: RawLayout("HWC", (SIDE, SIDE, 3)), ENCODED: None}  # by packed form


class ShardRecord(NamedTuple):
    """A finished shard: its images, its archives, and what was unreadable and what replaced it."""

    images: list[ImageRecord]
    parts: list[FileEntry]
    oddities: list[str]


def write_shard(
    staging: Staging,
    number: int,
    forms: Iterable[str],
    images: Iterable[tuple[ImageRecord, memoryview]],
    oddities: list[str],
) -> None:
    """Pack a shard, flush everything to disk, then write the record.

    Args:
        staging: Where the set is made.
        number: Which shard.
        forms: The forms of the set.
        images: Images, whose JPEG files are on disk, with their pixels; they may append to `oddities`.
        oddities: What was unreadable, and what replaced it.
    """
    packed, made = [form for form in LAYOUTS if form in forms], []
    with ExitStack() as stack:
        archives = {form: stack.enter_context(ZipFile(staging.part(form, number), "w")) for form in packed}
        for image, pixels in images:
            jpeg = (staging.jpegs / image.name).read_bytes()
            for form, archive in archives.items():
                archive.writestr(ZipInfo(image.name), pixels if form == RAW else jpeg)
            made.append(image)
        labels = {image.name: image.label for image in made}
        for form, archive in archives.items():
            archive.writestr(ZipInfo(INFO_NAME), PackInfo(labels, LAYOUTS[form]).to_json())
    parts = []
    for form in packed:
        path = staging.part(form, number)
        parts.append(FileEntry(f"{form}/{part_name(number)}", path.stat().st_size, file_sha256(path)))
    sync_filesystem(staging.root)  # else a power cut would leave empty files beside the record
    record = ShardRecord(made, parts, oddities)
    write_atomically(staging.record(number), [json.dumps(record).encode()])


def read_shard(staging: Staging, number: int) -> ShardRecord:
    """Read the record of a finished shard."""
    images, parts, oddities = json.loads(staging.record(number).read_bytes())
    return ShardRecord(
        [ImageRecord(*image) for image in images], [FileEntry(*part) for part in parts], oddities
    )
