"""What Linux tells about a process without rights: delay, bytes, memory, threads, descriptors; and CUDA."""

import ctypes
import os
import platform
import resource
import sys
import threading
import time
from pathlib import Path
from typing import Any

from course_utils.diagnosis.facts.lateness import RunDelay

KCMP_FILE = 0
KCMP_NUMBER = {"x86_64": 312, "aarch64": 272}


class ThreadClock:
    """Seconds on the wall, on a core, and waiting for a core, of the thread that made it."""

    def __init__(self) -> None:
        self._run = RunDelay()
        try:
            self._io = os.open("/proc/self/io", os.O_RDONLY | os.O_CLOEXEC)
            self.bytes_read()
        except (OSError, ValueError):
            self._io = -1

    def delay(self) -> float:
        """Seconds in the run queue; 0 if the kernel does not tell."""
        return self._run.seconds() or 0.0

    def bytes_read(self) -> int:
        """Bytes of all read calls of the process, C libraries included, from the page cache or not."""
        return int(os.pread(self._io, 32, 0).split()[1]) if self._io >= 0 else 0

    def close(self) -> None:
        """Close what it opened."""
        self._run.close()
        if self._io >= 0:
            os.close(self._io)
        self._io = -1


def memory() -> dict[str, int]:
    """Private and shared pages that were written to, in bytes; empty where the kernel does not tell."""
    try:
        text = Path("/proc/self/smaps_rollup").read_text()
    except OSError:
        return {}
    lines = (line.split() for line in text.splitlines()[1:])
    return {key: int(value) * 1024 for key, value, *_ in lines if key in ("Private_Dirty:", "Shared_Dirty:")}


def thread_seconds() -> dict[int, float]:
    """CPU seconds of each thread of this process but those of queues."""
    ours = {thread.native_id for thread in threading.enumerate() if "Feeder" in thread.name}
    tick = os.sysconf("SC_CLK_TCK")
    seconds = {}
    for task in Path("/proc/self/task").iterdir() if sys.platform == "linux" else ():
        try:
            fields = (task / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(task.name) not in ours:
            seconds[int(task.name)] = (int(fields[11]) + int(fields[12])) / tick
    return seconds


def readable_files() -> dict[int, tuple[int, int]]:
    """Device and inode of each regular file that is open for reading, by descriptor."""
    found = {}
    for name in _descriptors():
        try:
            path = os.readlink(f"/proc/self/fd/{name}")  # noqa: PTH115 - a Path costs more
            if not path.startswith(("/proc", "/sys", "/dev", "/memfd")) and not _write_only(int(name)):
                status = os.fstat(int(name))
                if status.st_mode & 0o170000 == 0o100000:
                    found[int(name)] = (status.st_dev, status.st_ino)
        except OSError:
            continue
    return found


def _descriptors() -> list[str]:
    try:
        return os.listdir("/proc/self/fd")  # noqa: PTH208
    except OSError:
        return []


def _write_only(descriptor: int) -> bool:
    import fcntl

    flags = fcntl.fcntl(descriptor, fcntl.F_GETFL)
    return flags & 3 == os.O_WRONLY or bool(flags & os.O_APPEND)


def position(descriptor: int) -> int:
    """Where the next read of a descriptor starts; -1 if it is closed."""
    try:
        return os.lseek(descriptor, 0, os.SEEK_CUR)
    except OSError:
        return -1


def same_description(descriptor: int, other_pid: int) -> bool | None:
    """Whether this process and another share an open file description; None if the kernel does not tell."""
    number = KCMP_NUMBER.get(platform.machine())
    if number is None or sys.platform != "linux":
        return None
    answer = ctypes.CDLL(None).syscall(number, os.getpid(), other_pid, KCMP_FILE, descriptor, descriptor)
    return None if answer < 0 else answer == 0


def open_descriptors() -> tuple[int, int]:
    """How many descriptors are open, and how many may be."""
    return len(_descriptors()), resource.getrlimit(resource.RLIMIT_NOFILE)[0]


def usable_cores() -> int:
    """Cores that this process may use: affinity and the quota of its control group."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    try:
        quota, period = Path("/sys/fs/cgroup/cpu.max").read_text().split()
        return cores if quota == "max" else max(min(cores, int(quota) // int(period)), 1)
    except (OSError, ValueError):
        return cores


def shared_memory() -> tuple[int, int]:
    """Size of the shared memory's file system, and what is free."""
    try:
        status = os.statvfs("/dev/shm")
    except OSError:
        return 0, 0
    return status.f_blocks * status.f_frsize, status.f_bavail * status.f_frsize


def cpu_pressure() -> float:
    """Share of the last ten seconds in which something waited for a core; -1 where unknown."""
    try:
        return float(Path("/proc/pressure/cpu").read_text().split("avg10=")[1].split()[0]) / 100
    except (OSError, IndexError, ValueError):
        return -1.0


def now() -> float:
    """The monotonic clock, which processes of a node share."""
    return time.monotonic()


def cuda_used() -> bool:
    """Whether this process initialised CUDA."""
    cuda: Any = sys.modules["torch.cuda"]
    return bool(cuda.is_initialized())
