"""Read any member of a stored zip with one `os.pread`, safe for concurrent threads and processes.

A stored member is a run of bytes in the file, so a table of offsets and sizes is all that a reader needs.
`zipfile` would read through one file position, which forked processes share, and keep a Python object for
each member.
"""

from contextlib import suppress
from pathlib import Path
from zipfile import BadZipFile

import numpy as np
from zlib_ng.zlib_ng import crc32

from course_utils.data.zips.entries import Row
from course_utils.data.zips.errors import ChangedFileError, PackError, changed_while_open
from course_utils.data.zips.member_table import Members, scan, stored_data
from course_utils.data.zips.saved_table import load, write_table
from course_utils.data.zips.source import OpenFile
from course_utils.data.zips.zip_file import index_path
from course_utils.data.zips.zip_format import LOCAL, LOCAL_SIGNATURE
from course_utils.data.zips.zip_handle import ZipHandle


class ZipIndex(Members):
    """Index of the members of one stored zip, sorted by name; any thread or process may read from it.

    Errors of the disk that may pass are retried. A pickle holds the path and what identifies the zip, not the
    table: who unpickles it opens the zip again, and the first use raises an error if it is another one.

    Args:
        path: The zip. Directories in it are left out.
        saved: A file that `save` wrote. It is used if it is intact and belongs to this zip: the size of the
            zip and the checksum of its directory are compared. Otherwise the zip is scanned, and the file is
            replaced if there is one and its folder can be written.

    Raises:
        ValueError: A member is compressed or encrypted, or two have the same name.
        PackError: The path is no regular file.
        BadZipFile: It is no zip, or is damaged.
        OSError: It is missing, or the disk fails.
    """

    def __init__(self, path: str | Path, saved: str | Path | None = None) -> None:
        self.path, self.saved = Path(path), Path(saved) if saved else None
        self._file = ZipHandle(self.path)
        self.close = self._file.close
        rows = load(self.saved, self._file.fd) if self.saved else None
        if rows is None:
            rows = self._file.persistently(lambda: scan(self.path, OpenFile(self._file.fd, self.path)))
            if self.saved and self.saved.is_file():
                with suppress(OSError):  # of a folder that cannot be written
                    write_table(self.saved, rows)
        self._rows = rows
        super().__init__(self.path, rows[:-1])
        self._file.stamp = self.stamp = rows[-1].item()

    def save(self, saved: str | Path | None = None) -> None:
        """Write the table atomically to a file, by default to `index_path` of the zip."""
        self.saved = Path(saved) if saved else index_path(self.path)
        write_table(self.saved, self._rows)

    def __reduce__(self) -> tuple[object, tuple[Path, Path | None, Row]]:
        return _open_again, (self.path, self.saved, self.stamp)

    def fileno(self) -> int:
        """Return the descriptor of the open zip."""
        return self._file.fd

    def has_changed(self) -> bool:
        """Return whether size or times of the zip differ from those when it was opened."""
        return self._file.has_changed()

    def read(self, i: int, check: bool = True) -> memoryview:
        """Return the bytes of member `i`, which are read with one `os.pread`.

        Args:
            i: Position of the member in the table.
            check: Also compare the CRC.

        Raises:
            BadZipFile: They do not match the directory: the zip is damaged.
            ChangedFileError: They do not match, and the file has changed since it was opened.
            OSError: The disk fails, also when asked again.
        """
        _, offset, span, size, crc = self.table[i].item()
        data = stored_data(self._file.read(span, offset), size)
        if data is None or (check and crc32(data) != crc):
            raise self._mismatch(i)
        return data

    def read_into(self, i: int, array: np.ndarray, check: bool = True) -> None:
        """Read the bytes of member `i` directly into an array, without the copy that `read` takes.

        Args:
            i: Position of the member in the table.
            array: Contiguous, uint8, with as many elements as the member has bytes.
            check: Also compare the CRC.

        Raises:
            PackError: The member has another size.
            BadZipFile: And other errors, as of `read`.
        """
        _, offset, span, size, crc = self.table[i].item()
        if size != array.size:
            raise PackError(f"{size} bytes, but {array.size} are expected")
        header = bytearray(span - size)
        self._file.read_into([memoryview(header), array.data], span, offset)
        signature, *_, name_length, extra_length = LOCAL.unpack_from(header)
        if LOCAL.size + name_length + extra_length != len(header):  # something follows the data
            array.reshape(-1)[:] = self.read(i, check)
        elif signature != LOCAL_SIGNATURE or (check and crc32(array) != crc):
            raise self._mismatch(i)

    def _mismatch(self, i: int) -> Exception:
        where = f"{self.path}: {self.name(i)}"
        return changed_while_open(where) if self.has_changed() else BadZipFile(f"{where}: it is damaged")


class UnavailableIndex:
    """Takes the place of an index that cannot be opened again; it raises the reason when it is used.

    An error while a worker process unpickles its dataset would end the process without reaching the training.
    """

    def __init__(self, error: Exception) -> None:
        self._error = error

    def __getattr__(self, name: str) -> object:
        raise self.__dict__.get("_error", AttributeError(name))

    def __len__(self) -> int:
        raise self._error

    def __reduce__(self) -> tuple[object, tuple[Exception]]:
        return UnavailableIndex, (self._error,)


def _open_again(path: Path, saved: Path | None, stamp: Row) -> ZipIndex | UnavailableIndex:
    """Open a zip in the process that unpickles its index, and compare its identity."""
    try:
        index = ZipIndex(path, saved)
        if index.stamp == stamp:
            return index
        index.close()
        reason = "its directory is another one"
    except OSError as error:
        return UnavailableIndex(error)
    except (BadZipFile, ValueError) as error:
        reason = str(error)
    return UnavailableIndex(
        ChangedFileError(f"{path} is not the zip that was opened before ({reason}); open the data set again")
    )
