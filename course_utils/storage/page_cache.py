"""How much of a file lies in the memory of the machine already, and how to get it out again.

Linux keeps what was read from a local disk in the *page cache*; a second reading never reaches the disk.
``mincore`` tells which pages are there, ``posix_fadvise(DONTNEED)`` after ``fsync`` lets them go; neither
needs root. Where the two cannot see the cache that counts (memory file systems have no disk below; network
and parallel ones have caches of their own) the answer is "not measurable here" and why, never a number.

Example:
    >>> from course_utils.storage import page_cache
    >>> page_cache.evict("data/zip/part0.zip")                            # doctest: +SKIP
    0 % of 393.2 MB in the page cache
"""

import ctypes
import mmap
import os
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

__all__ = ["CacheState", "evict", "resident", "why_not_measurable"]

PathLike = str | os.PathLike[str]

# statfs(2) numbers: on these, the pages that mincore sees are all there is between a reader and the disk.
MEASURABLE = {
    0xEF53: "ext4",
    0x58465342: "xfs",
    0x9123683E: "btrfs",
    0xF2F52010: "f2fs",
    0xCA451A4E: "bcachefs",
}
OTHERS = {
    0x01021994: "tmpfs keeps files in memory: there is no disk below it",
    0x858458F6: "ramfs keeps files in memory: there is no disk below it",
    0x794C7630: "overlayfs hides which file system lies below it",
    0x6969: "NFS has caches on the server that this machine cannot see",
    0x0BD00BD0: "Lustre has caches on its servers that this machine cannot see",
    0x47504653: "GPFS (Spectrum Scale) caches in a pool of its own",
    0x19830326: "BeeGFS has caches on its servers that this machine cannot see",
    0x00C36400: "CephFS has caches on its servers that this machine cannot see",
    0xFF534D42: "SMB has caches on the server that this machine cannot see",
    0xFE534D42: "SMB has caches on the server that this machine cannot see",
    0x65735546: "FUSE: a program of unknown habits serves these files",
    0x01021997: "9p has caches on the host that this machine cannot see",
    0x2FC12FC1: "ZFS caches in a pool of its own",
}


@dataclass(frozen=True)
class CacheState:
    """What part of some files is in the page cache.

    Args:
        total_bytes: size of the files together.
        resident_bytes: how much of it is in memory, in whole pages; None if it cannot be measured here.
        reason: why it cannot be measured, or an empty string.
    """

    total_bytes: int
    resident_bytes: int | None
    reason: str = ""

    @property
    def fraction(self) -> float | None:
        """The resident part, 0.0 to 1.0, or None if it cannot be measured here."""
        if self.resident_bytes is None:
            return None
        return self.resident_bytes / self.total_bytes if self.total_bytes else 0.0

    def short(self) -> str:
        """``43 %``, or ``?`` for what cannot be measured here."""
        return "?" if self.fraction is None else f"{100 * self.fraction:.0f} %"

    def __repr__(self) -> str:
        if self.fraction is None:
            return f"not measurable here: {self.reason}"
        return f"{self.short()} of {self.total_bytes / 1e6:.1f} MB in the page cache"


def resident(paths: PathLike | Iterable[PathLike]) -> CacheState:
    """Measure what part of files is in the page cache, without reading them.

    Args:
        paths: a file, a folder (everything below it), or several of them.

    Raises:
        FileNotFoundError: one of them does not exist.
    """
    files = list(_files(paths))
    total = sum(file.stat().st_size for file in files)
    if reason := why_not_measurable(files):
        return CacheState(total, None, reason)
    return CacheState(total, sum(map(_resident_bytes, files)))


def evict(paths: PathLike | Iterable[PathLike]) -> CacheState:
    """Ask the kernel to drop files from the page cache, so that the next reading comes from the disk.

    Pages that a process maps or that are being written stay. The call changes nothing in the files.

    Args:
        paths: a file, a folder (everything below it), or several of them.

    Returns:
        What is in the cache afterwards; where that cannot be measured, nothing was done.
    """
    files = list(_files(paths))
    if not why_not_measurable(files):
        for file in files:
            _evict_file(file)
    return resident(files)


def why_not_measurable(paths: PathLike | Iterable[PathLike]) -> str:
    """Say why the page cache of files cannot be measured here, or return an empty string if it can."""
    if not sys.platform.startswith("linux"):
        return "only Linux tells which pages of a file are in memory"
    files = list(_files(paths))
    for folder in {file.parent for file in files}:
        if reason := _why_not_on(_file_system(folder)):
            return reason
    # Linux 5.2 and later answer "all of it" about files that one could not write.
    strange = next((file for file in files if not _is_ours(file)), None)
    return f"{strange.name} belongs to somebody else, and Linux does not tell about it" if strange else ""


def _why_not_on(magic: int) -> str:
    if magic in MEASURABLE:
        return ""
    return OTHERS.get(magic, f"this file system (statfs number {magic:#x}) is not known to be a local disk")


def _is_ours(file: Path) -> bool:
    return file.stat().st_uid == os.geteuid() or os.access(file, os.W_OK, effective_ids=True)


def _files(paths: PathLike | Iterable[PathLike]) -> Iterator[Path]:
    single = isinstance(paths, str | os.PathLike)
    for path in map(Path, [paths] if single else paths):
        if path.is_dir():
            yield from (inner for inner in sorted(path.rglob("*")) if inner.is_file())
        elif path.is_file():
            yield path
        else:
            raise FileNotFoundError(f"there is no file or folder {path}")


def _file_system(path: Path) -> int:
    """Return the type number that statfs(2) gives, the first word of its answer."""
    answer = (ctypes.c_long * 64)()
    if _libc().statfs(os.fsencode(path), answer) != 0:
        raise OSError(ctypes.get_errno(), f"statfs: {os.strerror(ctypes.get_errno())}", str(path))
    return answer[0] & 0xFFFFFFFF


def _resident_bytes(file: Path) -> int:
    size = file.stat().st_size
    if size == 0:
        return 0
    with file.open("rb") as handle, mmap.mmap(handle.fileno(), 0, access=mmap.ACCESS_READ) as pages:
        where = np.frombuffer(pages, np.uint8)
        present = np.zeros(-(-size // mmap.PAGESIZE), np.uint8)
        failed = _libc().mincore(*map(ctypes.c_void_p, (where.ctypes.data, size, present.ctypes.data)))
        del where  # the map cannot be closed while somebody looks at it
    if failed:
        raise OSError(ctypes.get_errno(), f"mincore: {os.strerror(ctypes.get_errno())}", str(file))
    return min(size, int((present & 1).sum()) * mmap.PAGESIZE)


def _evict_file(file: Path) -> None:
    descriptor = os.open(file, os.O_RDONLY)
    try:
        os.fsync(descriptor)
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
    finally:
        os.close(descriptor)


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)
