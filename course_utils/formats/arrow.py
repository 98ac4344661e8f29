"""Columns by pyarrow: Parquet, and Arrow's own file format as a memory map."""

import itertools
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO, ClassVar

import pyarrow as pa
import pyarrow.parquet as pq

from course_utils.formats.sample import RandomAccess, Sample

SCHEMA = pa.schema([("name", pa.string()), ("data", pa.binary()), ("label", pa.int64())])
ROWS = 50  # per row group and per record batch
MAGIC = 8  # bytes before the stream in a file


def _batches(samples: Iterable[Sample]) -> Iterator[pa.RecordBatch]:
    remaining = iter(samples)
    while rows := list(itertools.islice(remaining, ROWS)):
        yield pa.record_batch(list(zip(*rows, strict=True)), schema=SCHEMA)


class Parquet(RandomAccess):
    """Row groups of 50 samples; to read one sample means to read its group."""

    title = "Parquet"
    checksums: ClassVar[bool] = False

    @classmethod
    def write(cls, path: Path, samples: Iterable[Sample]) -> None:
        """Write a row group at a time, uncompressed: JPEGs do not shrink."""
        with path.open("xb") as file, cls._writer(file) as writer:
            for batch in _batches(samples):
                writer.write_batch(batch)

    @classmethod
    def _writer(cls, file: BinaryIO) -> pq.ParquetWriter:
        return pq.ParquetWriter(file, SCHEMA, compression="none", write_page_checksum=cls.checksums)

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._file = pq.ParquetFile(path, page_checksum_verification=self.checksums)

    def __len__(self) -> int:
        return int(self._file.metadata.num_rows)

    def read(self, index: int) -> Sample:
        """Read a row group and take one row of it."""
        group, row = divmod(index, ROWS)
        return Sample(*self._file.read_row_group(group).slice(row, 1).to_pylist()[0].values())

    def close(self) -> None:
        """Close the file."""
        self._file.close()


class CheckedParquet(Parquet):
    """Parquet with a checksum for each page, compared when it is read."""

    title = "Parquet (page checksums)"
    checksums = True


class ArrowMap(RandomAccess):
    """Record batches of 50 samples in a memory map; a sample is a slice of its batch, without a copy."""

    title = "Arrow (memory map)"

    @classmethod
    def recover(cls, path: Path) -> Iterator[Sample]:
        """Read the record batches as Arrow's stream format, which they are, without their list."""
        with path.open("rb") as file:
            file.seek(MAGIC)
            for batch in pa.ipc.open_stream(file):
                yield from (Sample(*row.values()) for row in batch.to_pylist())

    @classmethod
    def write(cls, path: Path, samples: Iterable[Sample]) -> None:
        """Write a record batch at a time, and the list of batches at the end."""
        # Without a buffer of Python's, which would keep the end of a batch from the file.
        with path.open("xb", buffering=0) as file, pa.ipc.new_file(file, SCHEMA) as writer:
            for batch in _batches(samples):
                writer.write_batch(batch)

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._reader = pa.ipc.open_file(pa.memory_map(str(path)))
        last = self._reader.num_record_batches - 1  # the only batch that may hold fewer rows
        self._length = last * ROWS + len(self._reader.get_batch(last)) if last >= 0 else 0

    def __len__(self) -> int:
        return self._length

    def read(self, index: int) -> Sample:
        """Take one row of a record batch."""
        batch, row = divmod(index, ROWS)
        return Sample(*(column[row].as_py() for column in self._reader.get_batch(batch).columns))
