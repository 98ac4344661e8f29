"""One shard on its way: two archives that grow chunk by chunk, and the journal that says how far they are."""

import hashlib
from pathlib import Path
from typing import BinaryIO, NamedTuple

from data_setup.create.finalize import finish_shard
from data_setup.create.journal import Entry, Record, read_records
from data_setup.create.render import Packed
from data_setup.create.zip_writer import Growing
from data_setup.format import ENCODED, RAW, RAW_BYTES, Stage


class Done(NamedTuple):
    """An image that a worker has made.

    Args:
        packed: What the worker says of it.
        origin: Where it comes from.
        pixels: Its raw form, in memory that is used again.
    """

    packed: Packed
    origin: str | None
    pixels: memoryview


class Shard:
    """Puts a shard together.

    Args:
        stage: Where the set is being made.
        number: Which shard.
    """

    def __init__(self, stage: Stage, number: int) -> None:
        self.stage, self.number = stage, number
        self.done = self.taken = 0
        self.encoded = Growing(stage.part(ENCODED, number))
        self.raw = Growing(stage.part(RAW, number))
        self._journal = self._resume()

    def close(self) -> None:
        """Close what is open."""
        for file in (self.encoded, self.raw, self._journal):
            file.close()

    def _resume(self) -> BinaryIO:
        """Count the chunks that an earlier run finished, as far as their bytes are all there."""
        path, intact = self.stage.journal(self.number), 0
        for record in read_records(path):
            if not self._recover(record):
                break
            intact += len(record.line())
            self._count(record)
        journal = path.open("ab", buffering=0)
        journal.truncate(intact)
        return journal

    def _recover(self, record: Record) -> bool:
        for entry in record.entries:
            if not _has_sha256(self.stage.jpegs / entry.name, entry.sha256):
                return False
        before = self.encoded.end, self.encoded.sha.copy()
        if not self.encoded.recall((entry.name, entry.size, entry.crc) for entry in record.entries):
            return False
        if not self.raw.recall((entry.name, RAW_BYTES, entry.raw_crc) for entry in record.entries):
            self.encoded.end, self.encoded.sha = before
            return False
        return True

    def _count(self, record: Record) -> None:
        self.done += record.slots
        self.taken += record.taken

    def add(self, slots: int, images: list[Done], oddities: list[str], taken: int) -> None:
        """Append a chunk that the workers have made.

        The journal may be ahead of the archives by what these have not written yet: a command that goes on
        counts what is there.

        Args:
            slots: How many positions it covers; some may have no image.
            images: Its images.
            oddities: What to report.
            taken: How many items of the reserve were tried.
        """
        entries = [_entry(image.packed, image.origin) for image in images]
        for entry, image in zip(entries, images, strict=True):
            self.encoded.add(entry.name, entry.crc, (self.stage.jpegs / entry.name).read_bytes())
            self.raw.add(entry.name, entry.raw_crc, image.pixels)
        record = Record(slots, entries, oddities, taken)
        self._journal.write(record.line())
        self._count(record)

    def finish(self) -> None:
        """Complete both archives; from then on the shard counts as finished."""
        finish_shard(self.stage, self.number, self.encoded, self.raw)


def _entry(packed: Packed, origin: str | None) -> Entry:
    *fields, notes = packed
    return Entry(*fields, origin, list(notes))


def _has_sha256(path: Path, expected: str) -> bool:
    return path.is_file() and hashlib.sha256(path.read_bytes()).hexdigest() == expected
