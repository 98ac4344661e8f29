"""Limit how much more memory this process may allocate."""

import ctypes
import re
import resource
from pathlib import Path

_LARGEST, _SMALLEST = 2**28, 2**16  # bytes


def limit_memory_growth(nbytes: int) -> bool:
    """Let this process allocate no more than so many bytes beyond what it has; there is no way back.

    The kernel counts what a process has asked it for. Memory that was freed, and that the C library has kept,
    would serve beyond the limit, and a notebook has much of it: it is used up first.

    Args:
        nbytes: How much more.

    Returns:
        Whether the limit holds. Only Linux counts the memory of a process in that way.
    """
    try:
        used = re.search(r"VmData:\s+(\d+)", Path("/proc/self/status").read_text())
    except OSError:
        return False
    if used is None:
        return False
    now = 1024 * int(used[1])
    resource.setrlimit(resource.RLIMIT_DATA, (now, resource.getrlimit(resource.RLIMIT_DATA)[1]))
    _use_up_freed_memory()
    resource.setrlimit(resource.RLIMIT_DATA, (now + nbytes, now + nbytes))
    return True


def _use_up_freed_memory() -> None:
    """Allocate for good what the C library can give without asking the kernel; no page of it is touched."""
    malloc = ctypes.CDLL(None).malloc
    malloc.restype, malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
    size = _LARGEST
    while size >= _SMALLEST:
        if malloc(size) is None:
            size //= 2
