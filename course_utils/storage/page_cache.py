"""Measure which part of files is in the page cache, and evict it.

Linux keeps what was read from a local disk in the *page cache*; a second read does not reach the disk.
``mincore`` tells which pages are resident, ``posix_fadvise(DONTNEED)`` after ``fsync`` evicts them; neither
needs root. Where they do not see the cache that matters (in-memory file systems have no disk below them,
network and parallel ones have caches of their own), the result is "not measurable here" with the reason,
never a number.

The system calls are called directly because the standard library has no ``mincore``, and ``fincore`` and
``vmtouch`` are programs that many systems lack.

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

__all__ = ["CacheState", "PathLike", "evict", "resident", "why_not_measurable"]

PathLike = str | os.PathLike[str]

# Types from statfs(2). On these file systems, mincore sees the only cache between a reader and the disk.
MEASURABLE = {
    0xEF53: "ext4",
    0x58465342: "xfs",
    0x9123683E: "btrfs",
    0xF2F52010: "f2fs",
    0xCA451A4E: "bcachefs",
}
NOT_MEASURABLE = {
    0x01021994: "tmpfs keeps files in memory: there is no disk below it",
    0x858458F6: "ramfs keeps files in memory: there is no disk below it",
    0x794C7630: "overlayfs hides which file system is below it",
    0x6969: "NFS has caches on the server that this machine cannot see",
    0x0BD00BD0: "Lustre has caches on its servers that this machine cannot see",
    0x47504653: "GPFS (Spectrum Scale) has its own cache, outside the page cache",
    0x19830326: "BeeGFS has caches on its servers that this machine cannot see",
    0x00C36400: "CephFS has caches on its servers that this machine cannot see",
    0xFF534D42: "SMB has caches on the server that this machine cannot see",
    0xFE534D42: "SMB has caches on the server that this machine cannot see",
    0x65735546: "FUSE: a program whose caching is unknown serves these files",
    0x01021997: "9p has caches on the host that this machine cannot see",
    0x2FC12FC1: "ZFS has its own cache, outside the page cache",
}


@dataclass(frozen=True)
class CacheState:
    """Which part of some files is in the page cache.

    Args:
        total_bytes: size of all files.
        resident_bytes: bytes in memory, counted in whole pages; None if not measurable here.
        reason: why it is not measurable, or an empty string.
    """

    total_bytes: int
    resident_bytes: int | None
    reason: str = ""

    @property
    def fraction(self) -> float | None:
        """The resident part, 0.0 to 1.0, or None if not measurable here."""
        if self.resident_bytes is None:
            return None
        return self.resident_bytes / self.total_bytes if self.total_bytes else 0.0

    def short(self) -> str:
        """Return the part as ``43 %``, or ``?`` if not measurable here."""
        return "?" if self.fraction is None else f"{100 * self.fraction:.0f} %"

    def __repr__(self) -> str:
        if self.fraction is None:
            return f"not measurable here: {self.reason}"
        return f"{self.short()} of {self.total_bytes / 1e6:.1f} MB in the page cache"


def resident(paths: PathLike | Iterable[PathLike]) -> CacheState:
    """Measure which part of files is in the page cache, without reading them.

    Args:
        paths: a file, a folder (with everything below it), or several of them.

    Raises:
        FileNotFoundError: A path does not exist.
    """
    files = list(_files(paths))
    total = sum(file.stat().st_size for file in files)
    if reason := why_not_measurable(files):
        return CacheState(total, None, reason)
    return CacheState(total, sum(map(_resident_bytes, files)))


def evict(paths: PathLike | Iterable[PathLike]) -> CacheState:
    """Ask the kernel to evict files from the page cache, so that the next read comes from the disk.

    Pages that a process has mapped or that are being written stay. The files do not change.

    Args:
        paths: a file, a folder (with everything below it), or several of them.

    Returns:
        The state after the eviction; where it is not measurable, nothing is evicted.

    Raises:
        FileNotFoundError: A path does not exist.
    """
    files = list(_files(paths))
    if not why_not_measurable(files):
        for file in files:
            _evict_file(file)
    return resident(files)


def why_not_measurable(paths: PathLike | Iterable[PathLike]) -> str:
    """Return why the page cache of files is not measurable here, or an empty string if it is."""
    if not sys.platform.startswith("linux"):
        return "only Linux tells which pages of a file are in memory"
    files = list(_files(paths))
    for folder in {file.parent for file in files}:
        if reason := _why_not_on(_file_system_type(folder)):
            return reason
    # Since Linux 5.2, mincore reports all pages of a file as resident unless the caller may write the file.
    foreign = next((file for file in files if not _is_owned_or_writable(file)), None)
    return f"{foreign.name} belongs to another user, and Linux hides its cache state" if foreign else ""


def _why_not_on(magic: int) -> str:
    if magic in MEASURABLE:
        return ""
    unknown = f"this file system (statfs type {magic:#x}) is not known to be a local disk"
    return NOT_MEASURABLE.get(magic, unknown)


def _is_owned_or_writable(file: Path) -> bool:
    return file.stat().st_uid == os.geteuid() or os.access(file, os.W_OK, effective_ids=True)


def _files(paths: PathLike | Iterable[PathLike]) -> Iterator[Path]:
    several = (paths,) if isinstance(paths, str | os.PathLike) else paths
    for path in map(Path, several):
        if path.is_dir():
            yield from (inner for inner in sorted(path.rglob("*")) if inner.is_file())
        elif path.is_file():
            yield path
        else:
            raise FileNotFoundError(f"there is no file or folder {path}")


def _file_system_type(path: Path) -> int:
    """Return the type number from statfs(2), the first word of its result."""
    result = (ctypes.c_long * 64)()
    if _libc().statfs(os.fsencode(path), result) != 0:
        raise OSError(ctypes.get_errno(), f"statfs: {os.strerror(ctypes.get_errno())}", str(path))
    return result[0] & 0xFFFFFFFF


def _resident_bytes(file: Path) -> int:
    size = file.stat().st_size
    if size == 0:
        return 0
    with file.open("rb") as handle, mmap.mmap(handle.fileno(), 0, access=mmap.ACCESS_READ) as pages:
        mapped = np.frombuffer(pages, np.uint8)
        present = np.zeros(-(-size // mmap.PAGESIZE), np.uint8)
        failed = _libc().mincore(*map(ctypes.c_void_p, (mapped.ctypes.data, size, present.ctypes.data)))
        del mapped  # a map with an exported buffer cannot be closed
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
