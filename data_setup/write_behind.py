"""What was written and hashed goes to the disk, and leaves the page cache.

A set of millions of images would push all that others read on the machine out of it. And memory that is used
again is near: a virtual machine may get new memory from its host ten times as slowly as it is written to.
"""

import os
from concurrent.futures import Future, ThreadPoolExecutor
from typing import BinaryIO

STEP = 32 << 20  # bytes


class WriteBehind:
    """Writes a growing file to the disk in a thread; the work that makes it goes on.

    Args:
        file: Unbuffered, and open until `close`.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file, self._done = file, 0
        self._thread = ThreadPoolExecutor(1, "write behind")
        self._step: Future[None] | None = None

    def reach(self, end: int) -> None:
        """Say that nobody needs what stands before this offset; a step is begun when the last has ended.

        Raises:
            OSError: The last step failed; on a full disk, ENOSPC.
        """
        if not hasattr(os, "posix_fadvise") or end - self._done < STEP:
            return
        if self._step and not self._step.done():
            return
        self.settle()
        self._step = self._thread.submit(_let_go, self._file.fileno(), self._done, end)
        self._done = end

    def settle(self) -> None:
        """Wait for the step that has begun.

        Raises:
            OSError: It failed. The system tells so once: the file is not whole, whatever it says later.
        """
        if self._step:
            self._step.result()

    def close(self) -> None:
        """End the thread."""
        self._thread.shutdown()


def _let_go(handle: int, start: int, end: int) -> None:
    os.fdatasync(handle)  # the cache keeps what is not on the disk
    os.posix_fadvise(handle, start, end - start, os.POSIX_FADV_DONTNEED)
