"""Let the disk read the next batches while the cores decode."""

import os

import numpy as np


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
