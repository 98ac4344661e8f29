"""Find this process's open descriptors of a file and their positions, as the kernel keeps them."""

import os
from pathlib import Path


def file_positions(path: str | Path) -> dict[int, int]:
    """Find this process's open descriptors of a file, and their positions.

    Args:
        path: An existing file.

    Returns:
        File descriptor to position in bytes. The position is the kernel's, which forked processes share; a
        buffered reader may have read further than it has returned.
    """
    wanted = os.stat(path)  # noqa: PTH116 - beside fstat below
    found = {}
    for name in os.listdir("/dev/fd"):  # noqa: PTH208 - names that are numbers
        try:
            if os.path.samestat(os.fstat(int(name)), wanted):
                found[int(name)] = os.lseek(int(name), 0, os.SEEK_CUR)
        except OSError:
            continue  # the descriptor that listdir used, closed by now
    return found
