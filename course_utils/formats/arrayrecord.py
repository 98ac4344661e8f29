"""ArrayRecord, the successor of TFRecord with an index and checksums in the file."""

from collections.abc import Iterable
from pathlib import Path

from array_record.python.array_record_module import ArrayRecordReader, ArrayRecordWriter

from course_utils.formats.sample import RandomAccess, Sample, from_record, to_record


class ArrayRecord(RandomAccess):
    """One record for each group, so that a sample is read alone."""

    title = "ArrayRecord"

    @classmethod
    def write(cls, path: Path, samples: Iterable[Sample]) -> None:
        """Append one record for each sample, uncompressed."""
        if path.exists():
            raise FileExistsError(path)
        writer = ArrayRecordWriter(str(path), "group_size:1,uncompressed")
        for sample in samples:
            writer.write(to_record(sample))
        writer.close()

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        # Without a buffer: a random read would fill it with bytes that nobody asked for.
        with self.naming_errors():
            self._reader = ArrayRecordReader(str(path), "readahead_buffer_size:0")
            if not self._reader.ok():
                self._reader.close()  # raises what is wrong
            self._length = int(self._reader.num_records())

    def __len__(self) -> int:
        return self._length

    def read(self, index: int) -> Sample:
        """Read one record; the library compares its checksum."""
        with self.reading(index):
            (record,) = self._reader.read([index])
            return from_record(record)

    def close(self) -> None:
        """Close the file."""
        super().close()
        self._reader.close()
