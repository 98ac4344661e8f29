"""The end of a shard: `dataset.json` and the directories of its archives, and a summary of what is in it."""

import json
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import chain, islice
from pathlib import Path

from course_utils.data import INFO_NAME, zip_format
from data_setup.create.journal import Entry, read_entries, read_records
from data_setup.create.zip_writer import Growing
from data_setup.format import (
    ENCODED,
    RAW,
    RAW_BYTES,
    SIDE,
    Stage,
    write_atomically,
)

BLOCK = 1 << 20
RAW_LAYOUT = {"layout": "HWC", "dtype": "uint8", "shape": [SIDE, SIDE, 3]}

Measure = Callable[[Entry], tuple[int, int]]


def finish_shard(stage: Stage, number: int, encoded: Growing, raw: Growing) -> None:
    """Complete both archives of a shard, and leave the summary that calls it finished.

    May be repeated after a kill.

    Args:
        stage: Where the set is being made.
        number: Which shard.
        encoded: Its archive of JPEG files, all of which are in it.
        raw: Its archive of pixels, likewise.
    """
    journal, labels = stage.journal(number), stage.labels(number)
    tally = _spool_labels(journal, labels)
    parts = {
        ENCODED: _finish_archive(encoded, journal, labels, {}, lambda entry: (entry.size, entry.crc)),
        RAW: _finish_archive(raw, journal, labels, RAW_LAYOUT, lambda entry: (RAW_BYTES, entry.raw_crc)),
    }
    write_atomically(stage.summary(number), [json.dumps(tally | {"parts": parts}).encode()])


def _spool_labels(journal: Path, labels: Path) -> dict[str, object]:
    """Write the beginning of `dataset.json`, the same for both archives, and count what there is."""
    images = jpeg_bytes = 0
    handled, oddities = Counter(), []
    with labels.open("w", encoding="ascii") as file:
        file.write('{\n"labels": {')
        for record in read_records(journal):
            for entry in record.entries:
                file.write(f'{"," if images else ""}\n"{entry.name}": {entry.label}')
                images, jpeg_bytes = images + 1, jpeg_bytes + entry.size
                handled.update(entry.notes)
            oddities += record.oddities
        file.write("\n}" if images else "}")
    return {"images": images, "jpeg_bytes": jpeg_bytes, "handled": handled, "oddities": oddities}


def _finish_archive(
    archive: Growing, journal: Path, labels: Path, layout: dict[str, object], measure: Measure
) -> dict[str, object]:
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


def _info_text(labels: Path, layout: dict[str, object]) -> Iterator[bytes]:
    """The text that `PackInfo.to_json` makes, without holding all labels at once."""
    with labels.open("rb") as file:
        while block := file.read(BLOCK):
            yield block
    rest = json.dumps(layout, indent=0)[1:-1].strip()
    yield ((",\n" + rest if rest else "") + "\n}").encode()


def _joined(records: Iterator[bytes]) -> Iterator[bytes]:
    """Records by the thousand: writing each alone costs a system call each."""
    while some := b"".join(islice(records, 1000)):
        yield some


def _members(journal: Path, measure: Measure, info: zip_format.Member) -> Iterator[zip_format.Member]:
    offset = 0
    for entry in read_entries(journal):
        size, crc = measure(entry)
        yield zip_format.Member(entry.name, size, crc, offset)
        offset += zip_format.member_span(entry.name, size)
    yield info
