"""Let the disk read while the cores decode: the next batches, and whole packs where memory can hold them.

An epoch in random order needs every part of a pack sooner or later. Asked for image by image, a disk serves
thousands of small requests, and the kernel fills its cache page by page. Asked for from the beginning to the
end, it serves a few large ones, which takes less of the cores' time too. That pays only if what was read is
still in memory when it is needed.
"""

import ctypes
import mmap
import os
from collections.abc import Sequence

import numpy as np

from course_utils.data import PackedImages
from course_utils.system import available_memory

WINDOW = 4 * 2**20  # bytes that are read at once; whoever ends an epoch waits for one
PROBES = 5  # places of a window of which all must be cached, so that it is not read
PART = 0.5  # of the memory that is available
_POPULATE_READ = 22  # MADV_POPULATE_READ, since Linux 5.14


def read_ahead(fd: int, offsets: np.ndarray, sizes: np.ndarray) -> None:
    """Ask the kernel to read some ranges of a file into the page cache, and do not wait.

    It reads them all at once, and not only as many as there are threads that wait for one. Where the system
    lacks the call, nothing happens.

    Args:
        fd: The open file.
        offsets: Where the ranges begin, in any order.
        sizes: Their sizes in bytes.
    """
    if not hasattr(os, "posix_fadvise"):
        return
    order = np.argsort(offsets)
    starts, ends = offsets[order], (offsets + sizes)[order]
    gaps = np.flatnonzero(starts[1:] > ends[:-1]) + 1  # neighbours are read as one
    firsts, lasts = np.append(0, gaps), np.append(gaps, len(starts)) - 1
    for start, end in zip(starts[firsts].tolist(), ends[lasts].tolist(), strict=True):
        os.posix_fadvise(fd, start, end - start, os.POSIX_FADV_WILLNEED)


def fits_into_memory(nbytes: int) -> bool:
    """Return whether files of so many bytes would stay in the page cache."""
    return nbytes <= PART * available_memory()


def read_through(images: PackedImages, stopped: Sequence[object]) -> None:
    """Read what is not in the page cache yet, pack by pack; nothing is raised.

    Args:
        images: The images, whose packs stay open until this ends.
        stopped: The reading ends as soon as this is not empty.
    """
    for file in images.files():
        size = os.fstat(file).st_size
        for start in range(0, size, WINDOW):
            if stopped:
                return
            length = min(WINDOW, size - start)
            if not _is_cached(file, start, length):
                _populate(file, start, length)


def _is_cached(file: int, start: int, length: int) -> bool:
    """Return whether some places of a range are in the page cache; False where the system does not tell."""
    try:
        places = np.linspace(start, start + length - 1, PROBES, dtype=np.int64).tolist()
        return all(os.preadv(file, [bytearray(1)], place, os.RWF_NOWAIT) for place in places)
    except (AttributeError, OSError):
        return False


def _populate(file: int, start: int, length: int) -> None:
    """Map a range, and let the kernel read its pages in large pieces."""
    try:
        pages = mmap.mmap(file, length, mmap.MAP_SHARED, mmap.PROT_READ, offset=start)
    except (OSError, ValueError):  # the file has become shorter: whoever reads the image reports that
        return
    with pages:
        memory = np.frombuffer(pages, np.uint8)
        failed = ctypes.CDLL(None).madvise(
            ctypes.c_void_p(memory.ctypes.data), ctypes.c_size_t(length), _POPULATE_READ
        )
        del memory  # a map with an exported buffer cannot be closed
    if failed and hasattr(os, "posix_fadvise"):
        os.posix_fadvise(file, start, length, os.POSIX_FADV_WILLNEED)
