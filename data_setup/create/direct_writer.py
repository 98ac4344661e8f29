"""Append to a file in the background with direct I/O, where its filesystem supports that.

The archives of millions of images would evict from the page cache what others on the machine read. Caching
data that is not read soon is also expensive: the kernel allocates a page per 4 kB, fills it, and writes it
later; on a virtual machine, getting a new page from the host can take ten times as long as filling it.
"""

import errno
import fcntl
import mmap
import os
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

BLOCK = max(4096, mmap.PAGESIZE)  # bytes; direct writes are aligned to a disk's sectors
STEP = 256 * BLOCK
DIRECT = getattr(os, "O_DIRECT", 0)


class DirectWriter:
    """Collects appended bytes in a buffer; a thread writes it whenever it is full.

    Args:
        path: The file; it must exist.
        end: Offset to append at; what is beyond it is overwritten or truncated.
    """

    def __init__(self, path: Path, end: int) -> None:
        self._filled = end % BLOCK
        self._start = end - self._filled
        self._buffer, self._other = (memoryview(mmap.mmap(-1, STEP)) for _ in range(2))
        with path.open("rb") as file:
            file.seek(self._start)
            file.readinto(self._buffer[: self._filled])
        self._handle = _open(path)
        self._thread = ThreadPoolExecutor(1, "direct_writer")
        self._pending: Future[None] | None = None

    def append(self, data: bytes | memoryview) -> None:
        """Copy bytes to the buffer; the caller may overwrite them afterwards.

        Raises:
            OSError: The disk refused earlier ones; ENOSPC if it is full.
        """
        view = memoryview(data)
        while view:
            piece = view[: STEP - self._filled]
            self._buffer[self._filled : self._filled + len(piece)] = piece
            self._filled += len(piece)
            view = view[len(piece) :]
            if self._filled == STEP:
                self._submit()

    def _submit(self) -> None:
        self._wait()
        self._pending = self._thread.submit(self._write, self._buffer, self._start)
        self._buffer, self._other = self._other, self._buffer
        self._start, self._filled = self._start + STEP, 0

    def _wait(self) -> None:
        if self._pending:
            self._pending.result()

    def finish(self) -> None:
        """Write the rest of the buffer, truncate the file there, and flush it to disk.

        Raises:
            OSError: The disk refused it.
        """
        self._wait()
        _disable_direct(self._handle)  # the rest is not a whole number of blocks
        self._write(self._buffer[: self._filled], self._start)
        os.ftruncate(self._handle, self._start + self._filled)
        os.fsync(self._handle)  # reports what a disk or a server refuses late

    def close(self) -> None:
        """Close the file; unless `finish` was called, the rest of the buffer is lost."""
        self._thread.shutdown()
        os.close(self._handle)

    def _write(self, view: memoryview, offset: int) -> None:
        while view:
            try:
                written = os.pwrite(self._handle, view, offset)
            except OSError as error:
                if error.errno != errno.EINVAL or not _disable_direct(self._handle):
                    raise
            else:
                view, offset = view[written:], offset + written


def _open(path: Path) -> int:
    try:
        return os.open(path, os.O_WRONLY | DIRECT)
    except OSError as error:
        if error.errno != errno.EINVAL:
            raise
        return os.open(path, os.O_WRONLY)


def _disable_direct(handle: int) -> bool:
    """Write through the page cache from now on; return False if direct I/O was off already."""
    flags = fcntl.fcntl(handle, fcntl.F_GETFL)
    fcntl.fcntl(handle, fcntl.F_SETFL, flags & ~DIRECT)
    return bool(flags & DIRECT)
