"""Journal of a shard: one line of JSON per finished chunk, so that a killed command can be resumed."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, Self


class ImageRecord(NamedTuple):
    """An image that is in all three forms, as a worker reports it and the journal keeps it.

    It holds no pixels, so that a worker's report on a chunk fits into a pipe and is written at once: a worker
    that is killed halfway through a message leaves its reader waiting for the rest.

    Args:
        name: Name of the JPEG file, and of both members.
        label: Its label.
        size: Size of the JPEG file in bytes.
        crc: CRC-32 of the JPEG file.
        raw_crc: CRC-32 of the raw pixels.
        sha256: Hash of the JPEG file, in hexadecimal digits.
        origin: The file of the source that it was made from; a worker leaves this None.
        notes: What was odd about that file.
    """

    name: str
    label: int
    size: int
    crc: int
    raw_crc: int
    sha256: str
    origin: str | None
    notes: Sequence[str]


@dataclass(frozen=True)
class ChunkRecord:
    """A finished chunk: a line of the journal.

    Args:
        slots: Number of positions of the shard that it covers; some may have no image.
        entries: Its images.
        oddities: What was unreadable, and what replaced it.
        taken: Number of items of the reserve that were tried for it.
    """

    slots: int
    entries: list[ImageRecord]
    oddities: list[str] = field(default_factory=list)
    taken: int = 0

    def line(self) -> bytes:
        """Return the record as a line of the journal."""
        return json.dumps(vars(self), separators=(",", ":")).encode() + b"\n"

    @classmethod
    def from_line(cls, line: bytes) -> Self:
        """Return the record of a line of the journal."""
        fields = json.loads(line)
        fields["entries"] = [ImageRecord(*entry) for entry in fields["entries"]]
        return cls(**fields)


def read_chunks(path: Path) -> Iterator[ChunkRecord]:
    """Read the finished chunks in order, up to the first line that a kill or a full disk truncated."""
    if not path.exists():
        return
    with path.open("rb") as file:
        for line in file:
            try:
                chunk = ChunkRecord.from_line(line)
            except (ValueError, TypeError, KeyError):
                return
            if not line.endswith(b"\n"):
                return
            yield chunk


def read_images(path: Path) -> Iterator[ImageRecord]:
    """Read the finished images in order."""
    for chunk in read_chunks(path):
        yield from chunk.entries
