"""Columns by pyarrow: Parquet, and Arrow's own file format as a memory map."""

import itertools
import os
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from course_utils.data import ChangedFileError, open_regular_file
from course_utils.formats.flat import PackedArray, require_uint16
from course_utils.formats.sample import RandomAccess, Sample

SCHEMA = pa.schema([("name", pa.string()), ("data", pa.binary()), ("label", pa.int64())])
ROWS = 50  # per row group and per record batch
VALUES = 2**16  # per row group of an array
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
        self._version = _version(path)
        # A `ParquetFile` shared by threads hangs, or ends the process: each thread gets its own.
        self._opened = threading.local()
        with self.naming_errors():
            metadata = self._file.metadata
            rows = [metadata.row_group(number).num_rows for number in range(metadata.num_row_groups)]
            if any(count != ROWS for count in rows[:-1]):
                raise ValueError(f"a row group other than the last has not {ROWS} rows")
            self._length: int = sum(rows)

    @property
    def _file(self) -> pq.ParquetFile:
        """The file as this thread has opened it.

        Raises:
            ChangedFileError: It is another one than the first thread opened.
        """
        if not hasattr(self._opened, "file"):
            self._opened.file = pq.ParquetFile(self.path, page_checksum_verification=self.checksums)
            if _version(self.path) != self._version:
                raise ChangedFileError(f"{self.path} was replaced since it was opened; open it again")
        file: pq.ParquetFile = self._opened.file
        return file

    def __len__(self) -> int:
        return self._length

    def read(self, index: int) -> Sample:
        """Read a row group and take one row of it."""
        with self.reading(index):
            group, row = divmod(index, ROWS)
            return Sample(*self._file.read_row_group(group).slice(row, 1).to_pylist()[0].values())

    def close(self) -> None:
        """Close the files of all threads."""
        super().close()
        self._opened = threading.local()


def _version(path: Path) -> tuple[int, ...]:
    status = path.stat()
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


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
        with os.fdopen(open_regular_file(path, "file"), "rb") as file:
            file.seek(MAGIC)
            try:
                for batch in pa.ipc.open_stream(file):
                    yield from (Sample(*row.values()) for row in batch.to_pylist())
            except pa.ArrowInvalid:
                return  # its writer was killed here
            except OSError as error:
                if error.errno is not None:
                    raise

    @classmethod
    def write(cls, path: Path, samples: Iterable[Sample]) -> None:
        """Write a record batch at a time, and the list of batches at the end."""
        # Without a buffer of Python's, which would keep the end of a batch from the file.
        with path.open("xb", buffering=0) as file, pa.ipc.new_file(file, SCHEMA) as writer:
            for batch in _batches(samples):
                writer.write_batch(batch)

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        with self.naming_errors():
            self._reader = pa.ipc.open_file(pa.memory_map(str(path)))
            last = self._reader.num_record_batches - 1  # the only batch that may hold fewer rows
            self._length = last * ROWS + len(self._batch(last)) if last >= 0 else 0

    def __len__(self) -> int:
        return self._length

    def read(self, index: int) -> Sample:
        """Take one row of a record batch."""
        with self.reading(index):
            number, row = divmod(index, ROWS)
            return Sample(*(column[row].as_py() for column in self._batch(number).columns))

    def close(self) -> None:
        """Unmap the file."""
        super().close()
        self._reader = None

    def _batch(self, number: int) -> pa.RecordBatch:
        batch = self._reader.get_batch(number)
        batch.validate(full=True)  # offsets that point out of the batch would be read all the same
        if len(batch) != ROWS and number < self._reader.num_record_batches - 1:
            raise ValueError(f"record batch {number} has {len(batch)} rows, not {ROWS}")
        return batch


class ArrowArray(PackedArray):
    """One column in one record batch, mapped into memory: a slice is a view."""

    title = "Arrow (memory map)"

    @classmethod
    def write(cls, path: Path, values: NDArray[np.uint16]) -> None:
        """Write one record batch."""
        batch = pa.record_batch([pa.array(require_uint16(values))], names=["values"])
        with path.open("xb") as file, pa.ipc.new_file(file, batch.schema) as writer:
            writer.write_batch(batch)

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._values = pa.ipc.open_file(pa.memory_map(str(path))).get_batch(0).column(0)

    def read(self, start: int, stop: int) -> NDArray[np.uint16]:
        """Return a view of the map."""
        self.require_open()
        values: NDArray[np.uint16] = self._values.slice(start, stop - start).to_numpy()
        return values

    def close(self) -> None:
        """Unmap the file."""
        super().close()
        self._values = None


class ParquetArray(PackedArray):
    """One column in row groups of 65,536 values; a slice decodes every group that it touches."""

    title = "Parquet"

    @classmethod
    def write(cls, path: Path, values: NDArray[np.uint16]) -> None:
        """Write a column as pyarrow does by default: the numbers of a dictionary, by Snappy."""
        table = pa.table({"values": require_uint16(values)})
        with path.open("xb") as file:
            pq.write_table(table, file, row_group_size=VALUES)

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._file = pq.ParquetFile(path)

    def read(self, start: int, stop: int) -> NDArray[np.uint16]:
        """Decode one row group or more, and take a slice."""
        self.require_open()
        first = start // VALUES
        groups = self._file.read_row_groups(range(first, -(-stop // VALUES)))
        values: NDArray[np.uint16] = groups.column(0).slice(start - first * VALUES, stop - start).to_numpy()
        return values

    def close(self) -> None:
        """Close the file."""
        super().close()
        self._file.close()
