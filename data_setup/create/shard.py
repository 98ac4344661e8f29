"""One shard in progress: two archives that grow chunk by chunk, and the journal that records them."""

import json
from typing import BinaryIO

from data_setup.create.finalize import finalize_shard
from data_setup.create.journal import ChunkRecord, read_chunks, read_images
from data_setup.create.zip_writer import ZipWriter
from data_setup.format import ENCODED, RAW, RAW_BYTES, SetupError, StagingDirectory, file_sha256


class Shard:
    """Packs a shard, starting after what an earlier run finished.

    Args:
        staging: Where the set is made.
        number: Which shard.
    """

    def __init__(self, staging: StagingDirectory, number: int) -> None:
        self.staging, self.number = staging, number
        self.done = self.taken = 0  # positions finished, and items of the reserve tried
        self.encoded = ZipWriter(staging.part(ENCODED, number))
        self.raw = ZipWriter(staging.part(RAW, number))
        self._journal = self._resume()

    def close(self) -> None:
        """Close archives and journal."""
        for file in (self.encoded, self.raw, self._journal):
            file.close()

    def _resume(self) -> BinaryIO:
        """Recover the chunks of an earlier run up to the first that is not complete on disk."""
        path, intact = self.staging.journal(self.number), 0
        for chunk in read_chunks(path):
            if not self._recover(chunk):
                break
            intact += len(chunk.line())
            self._count(chunk)
        journal = path.open("ab", buffering=0)
        journal.truncate(intact)
        return journal

    def _recover(self, chunk: ChunkRecord) -> bool:
        for entry in chunk.entries:
            path = self.staging.jpegs / entry.name
            if not path.is_file() or file_sha256(path) != entry.sha256:
                return False
        before = self.encoded.end, self.encoded.sha.copy()
        if not self.encoded.recover((entry.name, entry.size, entry.crc) for entry in chunk.entries):
            return False
        if not self.raw.recover((entry.name, RAW_BYTES, entry.raw_crc) for entry in chunk.entries):
            self.encoded.end, self.encoded.sha = before
            return False
        return True

    def _count(self, chunk: ChunkRecord) -> None:
        self.done += chunk.slots
        self.taken += chunk.taken

    def add(self, chunk: ChunkRecord, pixels: list[memoryview]) -> None:
        """Append a rendered chunk to both archives and to the journal.

        The journal may be ahead of the archives, which write in the background: a resumed command verifies
        what is on disk.

        Args:
            chunk: Its record; the JPEG files are already on disk.
            pixels: The raw form of each image; may be overwritten after the call.
        """
        for entry, raw in zip(chunk.entries, pixels, strict=True):
            self.encoded.add(entry.name, entry.crc, (self.staging.jpegs / entry.name).read_bytes())
            self.raw.add(entry.name, entry.raw_crc, raw)
        line = memoryview(chunk.line())
        while line:  # a write may be short
            line = line[self._journal.write(line) :]
        self._count(chunk)

    def finish(self) -> None:
        """Complete both archives; from then on the shard counts as finished.

        Raises:
            SetupError: The journal on disk is not what was written.
        """
        recorded = sum(chunk.slots for chunk in read_chunks(self.staging.journal(self.number)))
        if recorded != self.done:
            raise SetupError(
                f"{self.staging.journal(self.number)} is damaged: it records {recorded:,} of {self.done:,} "
                "images. Run the same command again to make the rest."
            )
        finalize_shard(self.staging, self.number, self.encoded, self.raw)


def is_shard_finished(staging: StagingDirectory, number: int) -> bool:
    """Return whether a shard has its summary and all files that the summary counts, of the right sizes.

    The summary of a shard that lacks anything is removed, so that the shard is resumed.
    """
    summary = staging.summary(number)
    if staging.manifest.exists():  # some forms may have their final names already
        return summary.exists()
    try:
        content = json.loads(summary.read_bytes())
        sizes = [(staging.part(form, number), part["bytes"]) for form, part in content["parts"].items()]
        images = 0
        for images, entry in enumerate(read_images(staging.journal(number)), 1):  # noqa: B007 - a count
            if (staging.jpegs / entry.name).stat().st_size != entry.size:
                break
        else:
            if images == content["images"] and all(path.stat().st_size == size for path, size in sizes):
                return True
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        pass
    summary.unlink(missing_ok=True)
    return False
