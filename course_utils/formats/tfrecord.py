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

from course_utils.formats.sample import BUFFER_BYTES, RandomAccess, Sample, from_record, to_record

LENGTH, CHECKSUM = Struct("<Q"), Struct("<I")
HEADER = LENGTH.size + CHECKSUM.size


def masked_crc(data: bytes) -> bytes:
    """Return the checksum as the format stores it: rotated, so that data may contain checksums itself."""
    crc = google_crc32c.value(data)
    return CHECKSUM.pack((((crc >> 15) | (crc << 17)) + 0xA282EAD8) & 0xFFFFFFFF)


def checked(found: bytes) -> bytes:
    """Return the data of a record; ValueError if it does not match its checksums."""
    length, record = found[: LENGTH.size], found[HEADER : -CHECKSUM.size]
    if found != length + masked_crc(length) + record + masked_crc(record):
        raise ValueError("the record is damaged: it does not match its checksums")
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
        with path.open("rb") as file:
            while header := file.read(HEADER):
                (size,) = LENGTH.unpack_from(header)
                yield from_record(checked(header + file.read(size + CHECKSUM.size)))

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.offsets = np.load(self.index_path(path))
        self._fd = os.open(path, os.O_RDONLY)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def read(self, index: int) -> Sample:
        """Read one record; ValueError if it does not match its checksums."""
        start, end = self.offsets[index : index + 2].tolist()
        return from_record(checked(os.pread(self._fd, end - start, start)))

    def close(self) -> None:
        """Close the file."""
        os.close(self._fd)
