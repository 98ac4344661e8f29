"""Count what a program asks of the file system: opens, stats, reads, listings and bytes, workers included.

Example:
    >>> from course_utils.storage.io_counter import count_operations
    >>> with count_operations() as counter:                               # doctest: +SKIP
    ...     dataset = ZIPDataset("data/zip_encoded/part0.zip", load_encoded=True)
    ...     dataset[0]
    >>> counter.total()                                                    # doctest: +SKIP
    1 open, 1 stat, 9 reads, 54.3 kB

What each means of counting sees:

- *This module*: the calls of Python code, in this process and in those it starts: ``open``, ``os.stat`` and
  its kin, listings, and each read that a file object or ``os.read``, ``os.pread`` and the like hand to the
  kernel. Not libraries in C (HDF5, LMDB, ``torchvision.io.read_file``), not files opened before it began. It
  needs no rights, works in a sandbox and gives the same numbers on every system.
- *Audit hooks* of Python: opens and listings only, and they can never be taken off again.
- ``/proc/<pid>/io``: reads and bytes of everything, pipes too, but no opens and no stats (`kernel_reads`).
- ``strace``: everything, where it is installed and one may trace (`course_utils.storage.strace`).
- Nothing sees a memory map: the kernel fetches its pages without being asked.

How many reads a file takes depends on its buffer. Python up to 3.13 takes the block size of the file system,
3.14 at least 128 KiB. Counted files always have 4096 bytes, as with Python 3.11 to 3.13 on a local disk, so
that a count is the same everywhere; for the same reason the extra stat is left out that Python up to 3.13
makes to read a whole file at once.
"""

import contextlib
import mmap
import os
import tempfile
import threading
from collections.abc import Iterator
from dataclasses import astuple, dataclass, fields
from pathlib import Path

import numpy as np

from course_utils.storage import io_hooks

__all__ = ["KINDS", "FileOps", "OperationCounter", "count_operations", "kernel_reads"]


@dataclass(frozen=True)
class FileOps:
    """How often the file system was asked for what.

    Args:
        opens: files opened.
        stats: questions about a file; Python asks one about each file it opens.
        reads: reads, those that find the end of a file included.
        lists: folders listed.
        nbytes: bytes read.
    """

    opens: int = 0
    stats: int = 0
    reads: int = 0
    lists: int = 0
    nbytes: int = 0

    @property
    def operations(self) -> int:
        """Opens, stats, reads and listings together."""
        return self.opens + self.stats + self.reads + self.lists

    def for_users(self, users: int = 500, epochs: int = 1) -> str:
        """Say what this epoch becomes when many do the same.

        Args:
            users: how many jobs like this one.
            epochs: how many epochs each of them runs.
        """
        whole = self * (users * epochs)
        each = f"{epochs:,} epochs" if epochs > 1 else "one epoch"
        return (
            f"Your job × {users:,} users, {each} each: {whole!r}; "
            f"{whole.operations:,} operations that one file system has to serve."
        )

    def __add__(self, other: "FileOps") -> "FileOps":
        return FileOps(*(a + b for a, b in zip(astuple(self), astuple(other), strict=True)))

    def __sub__(self, other: "FileOps") -> "FileOps":
        return self + other * -1

    def __mul__(self, times: int) -> "FileOps":
        return FileOps(*(times * value for value in astuple(self)))

    def __repr__(self) -> str:
        parts = [_several(self.opens, "open"), _several(self.stats, "stat"), _several(self.reads, "read")]
        if self.lists:
            parts.append(_several(self.lists, "listing"))
        return ", ".join([*parts, _size(self.nbytes)])


KINDS = tuple(field.name for field in fields(FileOps))


class OperationCounter:
    """The counts of this process and of all that it starts.

    Each process adds to a small file of its own in a shared folder, mapped into memory: nothing is lost when
    a worker is killed, and no two processes write to the same place.

    Args:
        folder: where the small files are; empty.

    Attributes:
        paused: while it is true, nothing is counted in this process.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.paused = False
        self._pid = 0
        self._final: FileOps | None = None

    def note(self, kind: str, nbytes: int) -> None:
        """Add one operation of a kind, and its bytes; nothing while `paused`."""
        if self.paused:
            return
        slot = self._own_slot()
        with self._lock:
            slot[KINDS.index(kind)] += 1
            slot[-1] += nbytes

    def total(self) -> FileOps:
        """Sum the counts of all processes up to now, or up to the end of counting."""
        if self._final:
            return self._final
        with io_hooks.unnoticed():
            slots = [np.frombuffer(file.read_bytes(), np.int64) for file in self.folder.iterdir()]
        return FileOps(*map(int, sum(slots, np.zeros(len(KINDS), np.int64))))

    def here(self) -> FileOps:
        """Give the counts of this process alone."""
        return FileOps(*map(int, self._own_slot()))

    def close(self) -> None:
        """Keep the total, for after the folder is gone."""
        self._final = self.total()

    def __reduce__(self) -> tuple:
        """Make a process that is started with this counter count from the moment it unpickles it."""
        return _join, (self.folder,)

    def _own_slot(self) -> np.ndarray:
        if self._pid != os.getpid():  # first use, here or after a fork
            with io_hooks.unnoticed(), (self.folder / str(os.getpid())).open("a+b") as file:
                file.truncate(8 * len(KINDS))
                self._slot = np.frombuffer(mmap.mmap(file.fileno(), 0), np.int64)
            self._pid, self._lock = os.getpid(), threading.Lock()
        return self._slot


@contextlib.contextmanager
def count_operations() -> Iterator[OperationCounter]:
    """Count the file operations of the body, and of the processes that it starts.

    Processes made by ``fork`` count by themselves; one made by ``spawn`` or ``forkserver`` counts from where
    it unpickles the counter, as `course_utils.storage.epoch_io.count_epoch` arranges. Import first, then count:
    some modules look around in the file system when they are imported.
    """
    with io_hooks.unnoticed():
        folder = tempfile.TemporaryDirectory(prefix="file_ops_")
    counter = OperationCounter(Path(folder.name))
    io_hooks.listen(counter.note)
    try:
        yield counter
    finally:
        io_hooks.stop_listening(counter.note)
        with io_hooks.unnoticed():
            counter.close()
            folder.cleanup()


def kernel_reads() -> int | None:
    """Count the read calls of this thread up to now, as the kernel does; None where it does not (macOS).

    Pipes, sockets and libraries in C are included. Each call of this function is a read itself, which the
    next call counts.
    """
    try:
        with Path("/proc/thread-self/io").open("rb", buffering=0) as source:
            entries = source.read(4096).split()
    except OSError:
        return None
    return int(entries[entries.index(b"syscr:") + 1])


def _join(folder: Path) -> OperationCounter:
    counter = OperationCounter(folder)
    io_hooks.listen(counter.note)
    return counter


def _several(number: int, noun: str) -> str:
    return f"{number:,} {noun}" + "s" * (number != 1)


def _size(nbytes: int) -> str:
    for unit, scale in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if nbytes >= scale:
            return f"{nbytes / scale:,.1f} {unit}"
    return f"{nbytes} bytes"
