"""Finalize a shard: append `dataset.json` and central directory to its archives, and write its summary."""

import json
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import chain, islice
from pathlib import Path
from typing import TypedDict

from course_utils.data import INFO_NAME, PackInfo, RawLayout, zip_format
from course_utils.system import sync_filesystem, write_atomically
from data_setup.create.journal import ImageRecord, read_chunks, read_images
from data_setup.create.zip_writer import ZipWriter
from data_setup.format import ENCODED, RAW, RAW_BYTES, SIDE, StagingDirectory

BLOCK = 1 << 20
RAW_LAYOUT = RawLayout("HWC", (SIDE, SIDE, 3))

Measure = Callable[[ImageRecord], tuple[int, int]]


class PartSummary(TypedDict):
    """Size in bytes and hash of a finished archive."""

    bytes: int
    sha256: str


class Tally(TypedDict):
    """What the images of a shard add up to: `handled` counts converted odd files by kind."""

    images: int
    jpeg_bytes: int
    handled: dict[str, int]
    oddities: list[str]


class ShardSummary(Tally):
    """Summary of a finished shard, with its archives by form."""

    parts: dict[str, PartSummary]


def finalize_shard(staging: StagingDirectory, number: int, encoded: ZipWriter, raw: ZipWriter) -> None:
    """Complete both archives of a shard, then write the summary that marks it as finished.

    May be repeated after a kill.

    Args:
        staging: Where the set is made.
        number: Which shard.
        encoded: Its archive of JPEG files, with all of them.
        raw: Its archive of pixels, with all of them.
    """
    journal, labels = staging.journal(number), staging.labels(number)
    tally = _spool_labels(journal, labels)
    parts = {
        ENCODED: _finish_archive(encoded, journal, labels, None, lambda entry: (entry.size, entry.crc)),
        RAW: _finish_archive(raw, journal, labels, RAW_LAYOUT, lambda entry: (RAW_BYTES, entry.raw_crc)),
    }
    sync_filesystem(staging.jpegs)  # the JPEG files and the journal; a power cut would leave empty ones
    summary: ShardSummary = {**tally, "parts": parts}
    write_atomically(staging.summary(number), [json.dumps(summary).encode()])


def _spool_labels(journal: Path, labels: Path) -> Tally:
    """Write the labels as JSON, which both archives contain, and add up the images."""
    images = jpeg_bytes = 0
    handled: Counter[str] = Counter()
    oddities = []
    with labels.open("w", encoding="ascii") as file:
        file.write("{")
        for chunk in read_chunks(journal):
            for entry in chunk.entries:
                file.write(f'{"," if images else ""}\n"{entry.name}": {entry.label}')
                images, jpeg_bytes = images + 1, jpeg_bytes + entry.size
                handled.update(entry.notes)
            oddities += chunk.oddities
        file.write("\n}" if images else "}")
    return {"images": images, "jpeg_bytes": jpeg_bytes, "handled": handled, "oddities": oddities}


def _finish_archive(
    archive: ZipWriter, journal: Path, labels: Path, layout: RawLayout | None, measure: Measure
) -> PartSummary:
    size = crc = 0
    for piece in _info_text(labels, layout):
        size, crc = size + len(piece), zlib.crc32(piece, crc)
    info = zip_format.Member(INFO_NAME, size, crc, archive.end)
    archive.append(zip_format.local_header(INFO_NAME, size, crc))
    records = zip_format.central_directory(_members(journal, measure, info), archive.end + size)
    for piece in chain(_info_text(labels, layout), _joined(records)):
        archive.append(piece)
    archive.finish()
    return {"bytes": archive.end, "sha256": archive.sha.hexdigest()}


def _info_text(labels: Path, layout: RawLayout | None) -> Iterator[bytes]:
    """Generate the text of `dataset.json` without holding all labels in memory."""
    before, after = PackInfo({}, layout).to_json().split("{}")  # the empty labels
    yield before.encode()
    with labels.open("rb") as file:
        while block := file.read(BLOCK):
            yield block
    yield after.encode()


def _joined(records: Iterator[bytes]) -> Iterator[bytes]:
    """Join records by the thousand: one call per record would be slow."""
    while batch := b"".join(islice(records, 1000)):
        yield batch


def _members(journal: Path, measure: Measure, info: zip_format.Member) -> Iterator[zip_format.Member]:
    offset = 0
    for entry in read_images(journal):
        size, crc = measure(entry)
        yield zip_format.Member(entry.name, size, crc, offset)
        offset += zip_format.member_span(entry.name, size)
    yield info
