"""A sample of a packed data set, and what every packed format can do with samples."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path
from struct import Struct
from typing import ClassVar, NamedTuple

BUFFER_BYTES = 2**13  # what a killed writer may lose; Python's default depends on its version and the disk
_HEADER = Struct("<qH")  # label, length of the name


class Sample(NamedTuple):
    """One sample as it is stored: nothing in it has been decoded.

    Attributes:
        name: File name, unique in its data set.
        data: The bytes of its file, such as a JPEG.
        label: Class of the sample, a 64-bit integer.
    """

    name: str
    data: bytes
    label: int


class PackedFormat(ABC):
    """An open data set in one format; `write` makes one. It pickles as its path and is opened again.

    Args:
        path: File or folder that `write` made.

    Attributes:
        title: Name of the format for tables and plots.
    """

    title: ClassVar[str]

    @classmethod
    @abstractmethod
    def write(cls, path: Path, samples: Iterable[Sample]) -> None:
        """Write samples to a path that does not exist yet, one after the other.

        Formats are written in place, so that one can see what a killed writer leaves behind. To publish a
        data set, write it under another name and rename it.
        """

    @abstractmethod
    def __init__(self, path: Path) -> None:
        self.path = path

    @abstractmethod
    def stream(self) -> Iterator[Sample]:
        """Yield all samples in the order in which they were written."""

    @classmethod
    def recover(cls, path: Path) -> Iterator[Sample]:
        """Yield the whole samples of a file whose writer was killed, as far as the format allows.

        By default, as far as the usual reader gets.
        """
        with closing(cls(path)) as reader:
            yield from reader.stream()

    def close(self) -> None:  # noqa: B027 - not every format has something to close
        """Close what the constructor opened."""

    def __reduce__(self) -> tuple[type["PackedFormat"], tuple[Path]]:
        return type(self), (self.path,)


class RandomAccess(PackedFormat):
    """A format whose samples can be read in any order."""

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def read(self, index: int) -> Sample:
        """Return the sample that was written at position `index`, from 0 on."""

    def stream(self) -> Iterator[Sample]:
        """Yield all samples in the order in which they were written."""
        return (self.read(index) for index in range(len(self)))


def to_record(sample: Sample) -> bytes:
    """Join a sample to one record, for formats that store records of bytes."""
    name = sample.name.encode()
    return _HEADER.pack(sample.label, len(name)) + name + sample.data


def from_record(record: bytes) -> Sample:
    """Split a record from `to_record` into its sample."""
    label, length = _HEADER.unpack_from(record)
    end = _HEADER.size + length
    return Sample(record[_HEADER.size : end].decode(), record[end:], label)
