"""Find out how far the kernel reads ahead in a file, and ask it not to for random reads.

A read that misses the page cache fetches more than was asked for, up to `window` bytes, because most
programs read in order. Whoever reads in random order pays for bytes that nobody uses.
"""

import ctypes
import mmap
import os
import re
from pathlib import Path

_MAP = re.compile(r"(?P<start>\w+)-(?P<end>\w+) \S+ \S+ \S+ \d+\s+(?P<path>/.*)")


def window(path: Path) -> int | None:
    """Return the most bytes that the kernel reads ahead in a file, or None if it does not tell."""
    device = path.stat().st_dev
    setting = Path(f"/sys/class/bdi/{os.major(device)}:{os.minor(device)}/read_ahead_kb")
    try:
        return 1024 * int(setting.read_text())
    except OSError:
        return None


def expect_random_reads(under: Path) -> int:
    """Tell the kernel that this process reads files in random order, whichever library has opened them.

    Args:
        under: A file, or a folder with everything below it.

    Returns:
        The number of open files and memory maps that were found; 0 where the system does not list them.
    """
    path = str(under.resolve())
    return _advise_descriptors(path) + _advise_maps(path)


def _advise_descriptors(path: str) -> int:
    found = 0
    for entry in _entries("/proc/self/fd"):
        try:
            if not str(entry.readlink()).startswith(path):
                continue
        except FileNotFoundError:  # the descriptor by which the folder itself was listed
            continue
        os.posix_fadvise(int(entry.name), 0, 0, os.POSIX_FADV_RANDOM)
        found += 1
    return found


def _advise_maps(path: str) -> int:
    try:
        maps = [_MAP.fullmatch(line) for line in Path("/proc/self/maps").read_text().splitlines()]
    except OSError:
        return 0
    libc, found = ctypes.CDLL(None, use_errno=True), 0
    for one in maps:
        if one and one["path"].startswith(path):
            start, end = int(one["start"], 16), int(one["end"], 16)
            if libc.madvise(ctypes.c_void_p(start), ctypes.c_size_t(end - start), mmap.MADV_RANDOM):
                raise OSError(ctypes.get_errno(), f"madvise: {os.strerror(ctypes.get_errno())}", path)
            found += 1
    return found


def _entries(folder: str) -> list[Path]:
    try:
        return list(Path(folder).iterdir())
    except OSError:
        return []
