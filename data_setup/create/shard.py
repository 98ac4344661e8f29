"""One shard in progress: two archives that grow chunk by chunk, and the journal that records them."""

from typing import BinaryIO

from data_setup.create.finalize import finalize_shard
from data_setup.create.journal import ChunkRecord, read_chunks
from data_setup.create.zip_writer import ZipWriter
from data_setup.format import ENCODED, RAW, RAW_BYTES, StagingDirectory, file_sha256


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
        self._journal.write(chunk.line())
        self._count(chunk)

    def finish(self) -> None:
        """Complete both archives; from then on the shard counts as finished."""
        finalize_shard(self.staging, self.number, self.encoded, self.raw)
