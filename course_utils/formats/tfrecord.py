"""TFRecord, without TensorFlow: records between checksums, and an index of their offsets.

Layout of a record: length (8 bytes), masked CRC-32C of the length, data, masked CRC-32C of the data. The
format has no index; without one a reader can only go from record to record.
"""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from struct import Struct

import google_crc32c
import numpy as np

from course_utils.data import BrokenSampleError, open_regular_file
from course_utils.formats.open_file import OpenFile, load_array
from course_utils.formats.sample import (
    BUFFER_BYTES,
    RandomAccess,
    Sample,
    from_record,
    require_index,
    to_record,
)

LENGTH, CHECKSUM = Struct("<Q"), Struct("<I")
HEADER = LENGTH.size + CHECKSUM.size


def masked_crc(data: bytes) -> bytes:
    """Return the checksum as the format stores it: rotated, so that data may contain checksums itself."""
    crc = google_crc32c.value(data)
    return CHECKSUM.pack((((crc >> 15) | (crc << 17)) + 0xA282EAD8) & 0xFFFFFFFF)


def checked(found: bytes) -> bytes:
    """Return the data of a record; BrokenSampleError if it does not match its checksums."""
    length, record = found[: LENGTH.size], found[HEADER : -CHECKSUM.size]
    if found != length + masked_crc(length) + record + masked_crc(record):
        raise BrokenSampleError("the record is damaged: it does not match its checksums")
    return record


class TfRecord(RandomAccess):
    """Records that are found by an index beside the file and read by `pread`, both checksums compared."""

    title = "TFRecord (indexed)"

    @classmethod
    def write(cls, path: Path, samples: Iterable[Sample]) -> None:
        """Append one record for each sample, then write the index."""
        offsets = [0]
        with path.open("xb", buffering=BUFFER_BYTES) as file:
            for record in map(to_record, samples):
                length = LENGTH.pack(len(record))
                file.write(length + masked_crc(length) + record + masked_crc(record))
                offsets.append(file.tell())
        np.save(cls.index_path(path), np.array(offsets, np.int64))

    @staticmethod
    def index_path(path: Path) -> Path:
        """Return the path of the index."""
        return path.with_name(f"{path.name}.npy")

    @classmethod
    def recover(cls, path: Path) -> Iterator[Sample]:
        """Go from record to record, without the index."""
        with os.fdopen(open_regular_file(path, "file"), "rb") as file:
            while len(header := file.read(HEADER)) == HEADER:
                if header != header[: LENGTH.size] + masked_crc(header[: LENGTH.size]):
                    raise BrokenSampleError(f"{path}: the length of a record does not match its checksum")
                (size,) = LENGTH.unpack_from(header)
                record = file.read(size + CHECKSUM.size)
                if len(record) < size + CHECKSUM.size:
                    return  # its writer was killed here
                yield from_record(checked(header + record))

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._file = OpenFile(path)
        with self.naming_errors():
            self.offsets = load_array(self.index_path(path))
            require_index(self.offsets, self._file.size)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def read(self, index: int) -> Sample:
        """Read one record; BrokenSampleError if it does not match its checksums."""
        with self.reading(index):
            start, end = self.offsets[index : index + 2].tolist()
            found = self._file.read(end - start, start)
            try:
                return from_record(checked(found))
            except BrokenSampleError as error:
                raise BrokenSampleError(f"{self.path}, sample {index}: {error}") from error

    def close(self) -> None:
        """Close the file."""
        super().close()
        self._file.close()
