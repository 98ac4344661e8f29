"""Limit how much more memory this process may allocate."""

import ctypes
import re
import resource
from pathlib import Path

_M_MMAP_THRESHOLD = -3  # of glibc's mallopt
_LARGE = 2**16  # bytes


def limit_memory_growth(nbytes: int) -> bool:
    """Let this process allocate no more than so many bytes beyond what it has; there is no way back.

    Memory that the process has freed and kept could serve it beyond the limit: a notebook has much of it.
    So allocations of 64 KiB and more come from the kernel from now on, which counts them.

    Args:
        nbytes: How much more.

    Returns:
        Whether the limit holds: only Linux counts the memory of a process in that way.
    """
    try:
        used = re.search(r"VmData:\s+(\d+)", Path("/proc/self/status").read_text())
    except OSError:
        return False
    if used is None:
        return False
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)  # not in every C library
    if mallopt is not None:
        mallopt(_M_MMAP_THRESHOLD, _LARGE)
    limit = nbytes + 1024 * int(used[1])
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    return True
