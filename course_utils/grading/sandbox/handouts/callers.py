"""What the kernel knows of the thread that waits for a file system's reply, read from `/proc`."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Sequence
from pathlib import Path

from course_utils.checks.core import Kind, Usage
from course_utils.grading.sandbox.isolation import (
    private_bytes,
    processes_below,
    queued_bytes,
    stored_bytes,
)

# System calls that read a file (read, readv, pread64, preadv, preadv2, sendfile, copy_file_range) by machine:
# which field of `/proc/<pid>/syscall` holds the offset, and its value for the position of the open file
# description. `call_filter` refuses the others.
_MINUS_1 = f"{2**64 - 1:#x}"
_READS: dict[str, dict[str, tuple[int, str] | None]] = {
    "x86_64": {
        "0": None,
        "19": None,
        "17": (4, ""),
        "295": (4, _MINUS_1),
        "327": (4, _MINUS_1),
        "40": (3, "0x0"),
        "326": (2, "0x0"),
    },
    "aarch64": {
        "63": None,
        "65": None,
        "67": (4, ""),
        "69": (4, _MINUS_1),
        "286": (4, _MINUS_1),
        "71": (3, "0x0"),
        "285": (2, "0x0"),
    },
}
SHARED_MEMORY = "shm"  # the folder in /dev
_PATIENCE = 0.01  # seconds until a thread that has sent a request sleeps
# Places in /proc/<pid>/stat after the command: parent, page faults of the process and of its ended children.
_PARENT, _FAULTS, _CHILD_FAULTS = 1, 7, 8
# A mapping in smaps: private or shared, its inode, and, in this order, memory in kB.
_MAPPING = re.compile(
    r"^[0-9a-f]+-[0-9a-f]+ \S+(\S) \S+ \S+ (\d+).*?^Private_Dirty: +(\d+).*?^Anonymous: +(\d+)",
    re.MULTILINE | re.DOTALL,
)


class Callers:
    """Threads of one submission.

    Args:
        proc: The `/proc` of the submission's process namespace.
        writable: Folders in which the submission can write, by their path for it.
        first: The submission's first process, by its number for this one; None if there is none to inspect.
    """

    def __init__(self, proc: Path, writable: Sequence[str] = (), first: int | None = None) -> None:
        self._proc, self._first = proc, first
        self._writable = [proc.parent / folder.lstrip("/") for folder in writable]
        self._processes: dict[int, int] = {}

    def process(self, thread: int) -> int:
        """Return the process that a thread belongs to."""
        if thread not in self._processes:
            self._processes[thread] = self._field(thread, "status", r"^Tgid:\s+(\d+)") or thread
        return self._processes[thread]

    def kind_of_read(self, thread: int) -> Kind:
        """Return how a waiting thread reads; anything but a system call for it is a page fault of a map.

        A thread that hides how it reads is taken to read at the shared position.
        """
        end = time.monotonic() + _PATIENCE
        while (call := self._text(thread, "syscall").split()) == ["running"]:
            if time.monotonic() > end:
                return "map"
            os.sched_yield()
        if not call:
            return "read"
        reads = _READS.get(os.uname().machine, {})
        if call[0] not in reads:
            return "map"
        offset = reads[call[0]]
        return "read" if offset is None or call[offset[0]] == offset[1] else "pread"

    def usage(self, process: int) -> Usage | None:
        """Return what a process and its ended children have used until now; None if it is gone."""
        transfers = self._transfers(process)
        if not transfers:
            return None
        ancestors = self._ancestors(process)
        pids = [int(entry.name) for entry in self._proc.iterdir() if entry.name.isdigit()]
        return Usage(
            self._copied_bytes(process),
            transfers["rchar"],
            transfers["wchar"],
            sum(self._touched_bytes(pid, _FAULTS) for pid in ancestors),
            private_bytes(set(pids) - {process, *ancestors}, self._proc),
            stored_bytes(pids, self._writable, self._proc),
            self._touched_bytes(process, _FAULTS),
            sum(self._transfers(pid).get("rchar", 0) for pid in pids if pid != process),
            None if self._first is None else queued_bytes(processes_below(self._first)),
            stored_bytes([], [folder for folder in self._writable if folder.name != SHARED_MEMORY]),
        )

    def _transfers(self, process: int) -> dict[str, int]:
        """Return how many bytes a process has read and written, by name; empty if it is gone."""
        fields = (line.split(": ") for line in self._text(process, "io").splitlines())
        return {name: int(count) for name, count in fields}

    def _ancestors(self, process: int) -> list[int]:
        found = []
        while process := int((self._stat(process) or ["", "0"])[_PARENT]):
            found.append(process)
        return found

    def _stat(self, process: int) -> list[str]:
        return self._text(process, "stat").rpartition(")")[2].split()

    def _touched_bytes(self, process: int, field: int) -> int:
        """Return the memory that was allocated or copied on write, by a count of page faults."""
        return sum(map(int, self._stat(process)[field : field + 1])) * os.sysconf("SC_PAGE_SIZE")

    def _copied_bytes(self, process: int) -> int | None:
        """Return a process's private anonymous memory plus the pages that its ended children touched.

        Of a file that is mapped privately, the pages that were written to are such memory, too; the others
        belong to the file, even where it was written to.
        """
        mappings = _MAPPING.findall(self._text(process, "smaps"))
        if not mappings:
            return None
        kilobytes = 0
        for sharing, inode, dirty, anonymous in mappings:
            if inode == "0":
                kilobytes += int(dirty)
            elif sharing == "p":
                kilobytes += min(int(dirty), int(anonymous))
        return self._touched_bytes(process, _CHILD_FAULTS) + kilobytes * 1024

    def _field(self, thread: int, file: str, pattern: str) -> int | None:
        found = re.search(pattern, self._text(thread, file), re.MULTILINE)
        return int(found[1]) if found else None

    def _text(self, thread: int, file: str) -> str:
        try:
            return (self._proc / str(thread) / file).read_text()
        except OSError:
            return ""
