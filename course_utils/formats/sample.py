"""A sample of a packed data set, and what every packed format can do with samples."""

import operator
import os
import stat
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sized
from contextlib import closing, contextmanager
from pathlib import Path
from struct import Struct
from typing import ClassVar, NamedTuple

import numpy as np

from course_utils.data import PackError

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
        closed: Whether `close` was called.

    Raises:
        FileNotFoundError: There is nothing at the path.
        PackError: There is something else, or it is damaged; reading raises it, too.
        OSError: The disk failed.
    """

    title: ClassVar[str]
    closed = False

    @classmethod
    @abstractmethod
    def write(cls, path: Path, samples: Iterable[Sample]) -> None:
        """Write samples to a path that does not exist yet, one after the other.

        Formats are written in place, so that one can see what a killed writer leaves behind. To publish a
        data set, write it under another name and rename it.
        """

    @abstractmethod
    def __init__(self, path: Path) -> None:
        mode = os.stat(path).st_mode  # noqa: PTH116 - a path may also be a string
        if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):  # libraries would wait for the writer of a pipe
            raise PackError(f"{path} is neither a file nor a folder")
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

    def close(self) -> None:
        """Close what the constructor opened; may be repeated."""
        self.closed = True

    @contextmanager
    def naming_errors(self) -> Iterator[None]:
        """Let only errors that name the file leave this context; libraries raise nearly anything.

        Raises:
            ValueError: The reader was closed.
        """
        if self.closed:
            raise ValueError(f"{self.path} is closed")
        try:
            yield
        except OSError as error:
            if error.errno is None:  # HDF5 says so that the content is damaged
                raise self._damaged(error) from error
            raise OSError(error.errno, error.strerror, str(error.filename or self.path)) from error
        except PackError:
            raise
        except Exception as error:
            raise self._damaged(error) from error

    def _damaged(self, error: Exception) -> PackError:
        return PackError(
            f"{self.path} is damaged, or not written as {self.title} ({type(error).__name__}: {error}); "
            "copy or write it again"
        )

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
        with self.naming_errors():
            count = len(self)
        return (self.read(index) for index in range(count))

    @contextmanager
    def reading(self, index: int) -> Iterator[None]:
        """Do what `naming_errors` does, for one sample; IndexError if there is none at this position."""
        index = operator.index(index)
        with self.naming_errors():
            if 0 <= index < len(self):
                yield
                return
        raise IndexError(f"{self.path} has {len(self):,} samples, and none at position {index}")


def to_record(sample: Sample) -> bytes:
    """Join a sample to one record, for formats that store records of bytes."""
    name = sample.name.encode()
    return _HEADER.pack(sample.label, len(name)) + name + sample.data


def from_record(record: bytes) -> Sample:
    """Split a record from `to_record` into its sample."""
    label, length = _HEADER.unpack_from(record)
    end = _HEADER.size + length
    return Sample(record[_HEADER.size : end].decode(), record[end:], label)


def require_index(offsets: np.ndarray, nbytes: int, *columns: Sized) -> None:
    """Check that offsets divide the data, and that each column has a value a sample; ValueError if not."""
    if any(len(column) != len(offsets) - 1 for column in columns):
        raise ValueError("the numbers of offsets, labels and names do not fit each other")
    if offsets[0] or offsets[-1] != nbytes or np.any(offsets[1:] < offsets[:-1]):
        raise ValueError(f"the offsets do not divide {nbytes:,} bytes")
