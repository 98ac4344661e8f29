"""What the processes of a submission use, read from /proc outside of it.

Where no control group limits a submission, this is how its memory is known: private pages, its file systems
in memory, memory files (memfd, shared anonymous mappings) whether mapped or only open, and what sockets and
pipes hold. Of a memory file whose only descriptor is on its way through a socket, the size is not seen.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from grading.sandbox.isolation.queues import queued_bytes

_PROC = Path("/proc")
_TICKS = os.sysconf("SC_CLK_TCK")
# How the kernel names memory files that lie in no mounted file system.
_MEMORY_FILES = ("/memfd:", "/dev/zero (deleted)", "/SYSV")
_NAME_BYTES = 1024  # an inode with its name, or with the path that a link holds
_GONE = (FileNotFoundError, ProcessLookupError, PermissionError)  # a process that ends meanwhile


def processes_below(ancestor: int) -> list[int]:
    """Return a process and all its descendants; itself alone on a system without /proc."""
    children: dict[int, list[int]] = {}
    for path in _PROC.iterdir() if _PROC.exists() else ():
        if path.name.isdigit():
            with contextlib.suppress(*_GONE):
                parent = int(_stat(int(path.name))[1])
                children.setdefault(parent, []).append(int(path.name))
    found = [ancestor]
    for pid in found:
        found += children.get(pid, [])
    return found


def exceeds_memory(pids: list[int], file_systems: Iterable[Path], limit: int) -> bool:
    """Say whether processes use more memory than `limit` bytes together.

    Args:
        pids: The processes.
        file_systems: Their private file systems in memory.
        limit: Bytes.
    """
    shared = sum(map(_used, file_systems)) + _memory_files(pids) + queued_bytes(pids)
    # Pages that were shared by fork count for each process at first: cheap, and never too little.
    private = sum(map(_resident_kilobytes, pids))
    return shared + private * 1024 > limit and shared + _private_bytes(pids) > limit


def _private_bytes(pids: Iterable[int]) -> int:
    """Return the private memory of processes; they share the count of a page that several have."""
    return 1024 * sum(map(_private_kilobytes, pids))


def _private_kilobytes(pid: int) -> int:
    shared_out = _kilobytes(_PROC / str(pid) / "smaps_rollup", "Pss_Anon:", "SwapPss:")
    # Before Linux 5.4, which has no Pss_Anon, each process has all of a page.
    return shared_out or _resident_kilobytes(pid)


def _resident_kilobytes(pid: int) -> int:
    return _kilobytes(_PROC / str(pid) / "status", "RssAnon:", "VmSwap:")


def processor_seconds(pids: list[int]) -> tuple[float, float]:
    """Return what processes got and missed of the processors.

    Returns:
        The processor time of all together, and the longest time that one thread was ready but had to wait.
    """
    used = waited = 0.0
    for pid in pids:
        with contextlib.suppress(*_GONE):
            used += sum(map(int, _stat(pid)[11:15])) / _TICKS
            for thread in (_PROC / str(pid) / "task").iterdir():
                waited = max(waited, int((thread / "schedstat").read_text().split()[1]) / 1e9)
    return used, waited


def _stat(pid: int) -> list[str]:
    """Return the fields of /proc/PID/stat from the third on; the second may hold anything."""
    return (_PROC / str(pid) / "stat").read_text(errors="replace").rpartition(") ")[2].split()


def _kilobytes(file: Path, *fields: str) -> int:
    with contextlib.suppress(*_GONE):
        lines = file.read_text(errors="replace").splitlines()
        return sum(int(line.split()[1]) for line in lines if line.startswith(fields))
    return 0


def _used(file_system: Path) -> int:
    """Return the bytes of a file system in memory; what has a name takes memory that is in no block."""
    with contextlib.suppress(*_GONE):
        found = os.statvfs(file_system)
        blocks, names = found.f_blocks - found.f_bfree, found.f_files - found.f_ffree
        return blocks * found.f_frsize + names * _NAME_BYTES
    return 0


def _memory_files(pids: list[int]) -> int:
    """Return the bytes of all memory files; of one that is mapped but not open, the size of its mapping."""
    sizes: dict[tuple[int, int], int] = {}
    for pid in pids:
        with contextlib.suppress(*_GONE):
            for file, size in _mapped(_PROC / str(pid)):
                sizes[file] = max(size, sizes.get(file, 0))
    for pid in pids:
        with contextlib.suppress(*_GONE):
            sizes.update(_opened(_PROC / str(pid)))
    return sum(sizes.values())


def _mapped(process: Path) -> Iterator[tuple[tuple[int, int], int]]:
    for line in (process / "maps").read_text(errors="replace").splitlines():
        addresses, _, offset, device, inode, *name = line.split(maxsplit=5)
        if name and name[0].startswith(_MEMORY_FILES):
            start, end = (int(address, 16) for address in addresses.split("-"))
            major, minor = (int(number, 16) for number in device.split(":"))
            yield (os.makedev(major, minor), int(inode)), int(offset, 16) + end - start


def _opened(process: Path) -> Iterator[tuple[tuple[int, int], int]]:
    for descriptor in (process / "fd").iterdir():
        with contextlib.suppress(*_GONE):
            if str(descriptor.readlink()).startswith(_MEMORY_FILES):
                found = descriptor.stat()
                yield (found.st_dev, found.st_ino), found.st_blocks * 512
