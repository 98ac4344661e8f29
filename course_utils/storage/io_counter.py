"""Count the file operations of Python code: opens, stats, reads, listings and bytes, workers included.

Example:
    >>> from course_utils.storage import count_operations
    >>> with count_operations() as counter:                               # doctest: +SKIP
    ...     dataset = ZIPDataset("data/zip_encoded/part0.zip", load_encoded=True)
    ...     dataset[0]
    >>> counter.total()                                                    # doctest: +SKIP
    1 open, 1 stat, 9 reads, 54.3 kB

This is code of our own because no other counter sees opens, stats and reads without extra rights:

- *This module* sees the calls of Python code, in this process and its children: ``open``, ``os.stat`` and
  similar functions, listings, and each read that a file object or ``os.read``, ``os.pread`` and the like
  pass to the kernel. It misses C libraries (HDF5, LMDB, ``torchvision.io.read_file``) and files opened before
  counting started. It needs no rights, works in a sandbox and gives the same numbers on every system.
- *Audit hooks* of Python see opens and listings only, and cannot be removed.
- ``/proc/<pid>/io`` counts all reads and bytes, pipes included, but no opens and no stats (`kernel_reads`).
- ``strace`` sees everything, where it is installed and tracing is permitted (`course_utils.storage.strace`).
- Nothing sees reads from a memory map: they are page faults, not system calls.

How many reads a file takes depends on the buffer size. Python up to 3.13 uses the block size of the file
system (``st_blksize``: 4 KiB on most local disks, 4 MiB on Lustre), Python 3.14 at least 128 KiB. Counted
files use ``buffer_bytes`` instead, 4096 by default, so that counts are the same everywhere. For the same
reason the additional stat is not counted that Python up to 3.13 makes when it reads a whole file at once.
"""

import contextlib
import mmap
import os
import tempfile
import threading
from collections.abc import Callable, Iterator
from dataclasses import astuple, dataclass, fields
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from course_utils.storage import io_hooks

__all__ = ["FIELDS", "FileOps", "OperationCounter", "count_operations", "kernel_reads"]


@dataclass(frozen=True)
class FileOps:
    """Counts of file operations.

    Args:
        opens: files opened.
        stats: requests for a file's metadata; Python makes one for each file it opens.
        reads: reads, including those that return nothing at the end of a file.
        listings: folders listed.
        nbytes: bytes read.
    """

    opens: int = 0
    stats: int = 0
    reads: int = 0
    listings: int = 0
    nbytes: int = 0

    @property
    def operations(self) -> int:
        """Opens, stats, reads and listings together."""
        return self.opens + self.stats + self.reads + self.listings

    @property
    def lookups(self) -> int:
        """Stats by path, which are those beyond `sizes`."""
        return self.stats - self.sizes

    @property
    def sizes(self) -> int:
        """Stats of files that are open. Python makes one at each open, to ask for the size."""
        return min(self.stats, self.opens)

    def for_users(self, users: int = 500, epochs: int = 1) -> str:
        """Describe the load if many users run the same job.

        Args:
            users: number of such jobs.
            epochs: epochs that each of them runs.
        """
        total = self * (users * epochs)
        each = f"{epochs:,} epochs" if epochs > 1 else "one epoch"
        return (
            f"Your job × {users:,} users, {each} each:\n{total!r};\n"
            f"{total.operations:,} operations that one file system has to serve."
        )

    def __add__(self, other: "FileOps") -> "FileOps":
        return FileOps(*(a + b for a, b in zip(astuple(self), astuple(other), strict=True)))

    def __sub__(self, other: "FileOps") -> "FileOps":
        return self + other * -1

    def __mul__(self, times: int) -> "FileOps":
        return FileOps(*(times * value for value in astuple(self)))

    def __repr__(self) -> str:
        parts = [_plural(self.opens, "open"), _plural(self.stats, "stat"), _plural(self.reads, "read")]
        if self.listings:
            parts.append(_plural(self.listings, "listing"))
        return ", ".join([*parts, _format_bytes(self.nbytes)])


FIELDS = tuple(field.name for field in fields(FileOps))


class OperationCounter:
    """Counts of this process and its children.

    Each process adds to its own small memory-mapped file in a shared folder: no count is lost when a worker
    is killed, and no two processes write to the same place.

    Args:
        folder: where these files are created; empty.
        buffer_bytes: buffer of the files that a process opens after it has unpickled this counter.

    Attributes:
        paused: while true, this process counts nothing.
    """

    def __init__(self, folder: Path, buffer_bytes: int = io_hooks.BUFFER_BYTES) -> None:
        self.folder, self.buffer_bytes = folder, buffer_bytes
        self.paused = False
        self._pid = 0
        self._final: FileOps | None = None

    def record(self, kind: io_hooks.Kind, nbytes: int) -> None:
        """Add one operation and its bytes, unless `paused`."""
        if self.paused:
            return
        counts = self._process_counts()
        with self._lock:
            counts[FIELDS.index(kind)] += 1
            counts[-1] += nbytes

    def total(self) -> FileOps:
        """Sum the counts of all processes up to now, or up to `close`."""
        if self._final:
            return self._final
        with io_hooks.disabled():
            counts = [np.frombuffer(file.read_bytes(), np.int64) for file in self.folder.iterdir()]
        return FileOps(*map(int, sum(counts, np.zeros(len(FIELDS), np.int64))))

    def process_total(self) -> FileOps:
        """Return the counts of this process alone."""
        return FileOps(*map(int, self._process_counts()))

    def close(self) -> None:
        """Keep the total, so that the folder can be deleted."""
        self._final = self.total()

    def __reduce__(self) -> tuple[Callable[[Path, int], "OperationCounter"], tuple[Path, int]]:
        """Start counting in the process that unpickles this counter."""
        return _unpickle, (self.folder, self.buffer_bytes)

    def _process_counts(self) -> NDArray[np.int64]:
        if self._pid != os.getpid():  # first use, in the first process or after a fork
            with io_hooks.disabled(), (self.folder / str(os.getpid())).open("a+b") as file:
                file.truncate(8 * len(FIELDS))
                self._counts = np.frombuffer(mmap.mmap(file.fileno(), 0), np.int64)
            self._pid, self._lock = os.getpid(), threading.Lock()
        return self._counts


@contextlib.contextmanager
def count_operations(buffer_bytes: int = io_hooks.BUFFER_BYTES) -> Iterator[OperationCounter]:
    """Count the file operations of the body and of the processes that it starts.

    A forked process counts from its start; one started by ``spawn`` or ``forkserver`` counts from the moment
    it unpickles the counter, as `course_utils.storage.count_epoch` arranges. Import modules before counting:
    some of them search the file system when they are imported.

    Args:
        buffer_bytes: buffer of files opened without an explicit one, as if the file system reported this
            ``st_blksize``.
    """
    with io_hooks.disabled():
        folder = tempfile.TemporaryDirectory(prefix="file_ops_")
    counter = OperationCounter(Path(folder.name), buffer_bytes)
    io_hooks.add_listener(counter.record)
    try:
        with io_hooks.buffer_size(buffer_bytes):
            yield counter
    finally:
        io_hooks.remove_listener(counter.record)
        with io_hooks.disabled():
            counter.close()
            folder.cleanup()


def kernel_reads() -> int | None:
    """Return how many read calls of this thread the kernel has counted, or None where it counts none (macOS).

    Pipes, sockets and C libraries are included. Each call of this function reads once itself; the next call
    counts that read.
    """
    try:
        with Path("/proc/thread-self/io").open("rb", buffering=0) as source:
            entries = source.read(4096).split()
    except OSError:
        return None
    return int(entries[entries.index(b"syscr:") + 1])


def _unpickle(folder: Path, buffer_bytes: int) -> OperationCounter:
    counter = OperationCounter(folder, buffer_bytes)
    io_hooks.set_buffer_size(buffer_bytes)
    io_hooks.add_listener(counter.record)
    return counter


def _plural(number: int, noun: str) -> str:
    return f"{number:,} {noun}" + "s" * (number != 1)


def _format_bytes(nbytes: int) -> str:
    for unit, scale in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if nbytes >= scale:
            return f"{nbytes / scale:,.1f} {unit}"
    return f"{nbytes} bytes"
