"""The record of a shard's finished images: a line of JSON a chunk, so that a killed command goes on."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple


class Entry(NamedTuple):
    """An image that is in all three forms."""

    name: str
    label: int
    size: int
    crc: int
    raw_crc: int
    sha256: str
    origin: str | None
    notes: list[str]


@dataclass(frozen=True)
class Record:
    """A chunk that is done.

    Args:
        slots: How many positions of the shard it covers.
        entries: Its images.
        oddities: What was unreadable, and what took its place.
        taken: How many items of the reserve were tried for it.
    """

    slots: int
    entries: list[Entry]
    oddities: list[str] = field(default_factory=list)
    taken: int = 0

    def line(self) -> bytes:
        """The record as a line of the journal."""
        return json.dumps(vars(self), separators=(",", ":")).encode() + b"\n"

    @classmethod
    def from_line(cls, line: bytes) -> "Record":
        """Read a line back."""
        fields = json.loads(line)
        fields["entries"] = [Entry(*entry) for entry in fields["entries"]]
        return cls(**fields)


def read_records(path: Path) -> Iterator[Record]:
    """Read the finished chunks in order; a line that was cut off by a kill does not count."""
    if not path.exists():
        return
    with path.open("rb") as file:
        for line in file:
            if line.endswith(b"\n"):
                yield Record.from_line(line)


def read_entries(path: Path) -> Iterator[Entry]:
    """Read the finished images in order."""
    for record in read_records(path):
        yield from record.entries
