"""Appending to a file past the page cache, where its filesystem allows that.

The archives of millions of images would push all that others read on the machine out of the cache. And it is
dear for bytes that nobody reads soon: the kernel finds a page for every 4 kB, fills it, and writes it later.
A virtual machine may even get a new page from its host ten times as slowly as it fills it.
"""

import errno
import fcntl
import mmap
import os
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

BLOCK = max(4096, mmap.PAGESIZE)  # bytes; direct writes begin and end at multiples of a disk's sector
STEP = 256 * BLOCK
DIRECT = getattr(os, "O_DIRECT", 0)


class Appender:
    """Collects what is appended, and writes it step by step in a thread.

    Args:
        path: The file; it exists.
        end: Where to append; what stands beyond it is overwritten or cut off.
    """

    def __init__(self, path: Path, end: int) -> None:
        self._filled = end % BLOCK
        self._start = end - self._filled
        self._buffer, self._other = (memoryview(mmap.mmap(-1, STEP)) for _ in range(2))
        with path.open("rb") as file:
            file.seek(self._start)
            file.readinto(self._buffer[: self._filled])
        self._handle = _open(path)
        self._thread = ThreadPoolExecutor(1, "appender")
        self._step: Future[None] | None = None

    def append(self, data: bytes | memoryview) -> None:
        """Take bytes; when this returns they may be written over.

        Raises:
            OSError: The disk refused earlier ones; if it is full, ENOSPC.
        """
        view = memoryview(data)
        while view:
            piece = view[: STEP - self._filled]
            self._buffer[self._filled : self._filled + len(piece)] = piece
            self._filled += len(piece)
            view = view[len(piece) :]
            if self._filled == STEP:
                self._begin_step()

    def _begin_step(self) -> None:
        self._settle()
        self._step = self._thread.submit(self._write, self._buffer, self._start)
        self._buffer, self._other = self._other, self._buffer
        self._start, self._filled = self._start + STEP, 0

    def _settle(self) -> None:
        if self._step:
            self._step.result()

    def finish(self) -> None:
        """Write what is left, and cut off what stood beyond the end.

        Raises:
            OSError: The disk refused it.
        """
        self._settle()
        _go_through_cache(self._handle)  # the rest is no whole number of blocks
        self._write(self._buffer[: self._filled], self._start)
        os.ftruncate(self._handle, self._start + self._filled)
        os.fsync(self._handle)  # what a disk or a server refuses late is heard here

    def close(self) -> None:
        """Close the file; what is not written by now never will be."""
        self._thread.shutdown()
        os.close(self._handle)

    def _write(self, view: memoryview, offset: int) -> None:
        while view:
            try:
                written = os.pwrite(self._handle, view, offset)
            except OSError as error:
                if error.errno != errno.EINVAL or not _go_through_cache(self._handle):
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


def _go_through_cache(handle: int) -> bool:
    """Write through the page cache from now on; False if that is how it was."""
    flags = fcntl.fcntl(handle, fcntl.F_GETFL)
    fcntl.fcntl(handle, fcntl.F_SETFL, flags & ~DIRECT)
    return bool(flags & DIRECT)
