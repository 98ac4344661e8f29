"""Where this process stands in a file: its open handles and their positions, as the kernel keeps them."""

import os
from pathlib import Path


def positions(path: str | Path) -> dict[int, int]:
    """Find this process's handles on a file.

    Args:
        path: An existing file.

    Returns:
        File descriptor to position in bytes, for each handle. A buffering reader may have read further than
        it has handed out: the position is the kernel's, which forked processes share.
    """
    wanted = os.stat(path)  # noqa: PTH116 - beside fstat below
    found = {}
    for name in os.listdir("/dev/fd"):  # noqa: PTH208 - names that are numbers
        try:
            if os.path.samestat(os.fstat(int(name)), wanted):
                found[int(name)] = os.lseek(int(name), 0, os.SEEK_CUR)
        except OSError:
            continue  # the listing's own handle, closed by now
    return found
