"""How much memory a process takes, and how much of it is its own."""

import ctypes
import re
import resource
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from course_utils.system.fork import in_child

_LINUX_ONLY = "shared and private memory can be told apart on Linux only, for processes of your own"
# Addresses, permissions, offset and device; then the inode, which is 0 for memory without a file.
_MAPPING = re.compile(r"[0-9a-f]+-[0-9a-f]+ \S+ \S+ \S+ (\d+)")
_NO_HUGE_PAGES = 41  # PR_SET_THP_DISABLE


class NotMeasurableError(RuntimeError):
    """This system does not tell a process's memory in that much detail."""


@dataclass(frozen=True)
class Memory:
    """A process's memory in bytes.

    Args:
        rss: Resident: every page that it sees, shared ones included.
        pss: Proportional: a page that k processes share counts 1/k. The sum over processes is true.
        private: Pages that no other process shares.
        private_dirty: Private pages that were written to: real copies, not pages of a file.
    """

    rss: int
    pss: int
    private: int
    private_dirty: int


def process_memory(pid: int | str = "self") -> Memory:
    """Read a process's memory from Linux.

    Raises:
        NotMeasurableError: The system has no `/proc/<pid>/smaps_rollup` for it.
    """
    try:
        text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    except OSError as error:
        raise NotMeasurableError(_LINUX_ONLY) from error
    sizes = {name: int(kib) * 1024 for name, kib in re.findall(r"^(\w+):\s+(\d+) kB", text, re.MULTILINE)}
    private = sizes["Private_Clean"] + sizes["Private_Dirty"]
    return Memory(sizes["Rss"], sizes["Pss"], private, sizes["Private_Dirty"])


def copied_memory(pid: int | str = "self") -> int:
    """Bytes of a process's own that stand in no file: what it made, or copied by writing to a shared page.

    A page of a mapped file may be dirty as well, but it is the file's.

    Raises:
        NotMeasurableError: As `process_memory`.
    """
    total, in_file = 0, False
    try:
        # Line by line: what was read whole and thrown away would be room for what is to be measured.
        with Path(f"/proc/{pid}/smaps").open() as lines:
            for line in lines:
                if heading := _MAPPING.match(line):
                    in_file = heading[1] != "0"
                elif line.startswith("Private_Dirty:") and not in_file:
                    total += int(line.split()[1]) * 1024
    except OSError as error:
        raise NotMeasurableError(_LINUX_ONLY) from error
    return total


def dirtied_by(function: Callable[..., Any], *args: Any) -> int:  # noqa: ANN401 - any function
    """Bytes that a forked child copies for itself, or makes and keeps, in ``function(*args)``.

    Raises:
        NotMeasurableError: As `process_memory`.
    """
    return in_child(_dirtied, function, args)


def peak_growth(function: Callable[..., Any], *args: Any) -> int:  # noqa: ANN401 - any function
    """Bytes by which the resident memory of a forked child rises at most during ``function(*args)``."""
    return in_child(_growth, function, args)


def _dirtied(function: Callable[..., Any], args: tuple) -> int:
    _settled()
    before, faults = _settled(), _page_faults()
    kept = function(*args)
    # A page that the parent writes meanwhile becomes the child's own too, but by no page fault of the child.
    written = (_page_faults() - faults) * resource.getpagesize()
    after = copied_memory()
    del kept
    return min(after - before, written)


def _page_faults() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt


def _settled() -> int:
    # The first measurement dirties pages of its own; and one small write is not to count as a huge page.
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_NO_HUGE_PAGES, 1, 0, 0, 0)
    return copied_memory()


def _growth(function: Callable[..., Any], args: tuple) -> int:
    before = _peak()
    kept = function(*args)
    after = _peak()
    del kept
    return after - before


def _peak() -> int:
    # A fork's high-water mark starts at what is resident then; getrusage would still hold the parent's peak.
    status = Path("/proc/self/status")
    if status.exists() and (found := re.search(r"VmHWM:\s+(\d+) kB", status.read_text())):
        return int(found[1]) * 1024
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
