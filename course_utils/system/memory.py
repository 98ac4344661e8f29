"""Measure the memory of a process, and how much of it is private to that process."""

import ctypes
import re
import resource
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import ParamSpec

from course_utils.system.fork import in_child

_P = ParamSpec("_P")

_LINUX_ONLY = "shared and private memory can be told apart on Linux only, for processes of your own"
# Addresses, permissions, offset and device; then the inode, which is 0 for anonymous memory.
_MAPPING = re.compile(r"[0-9a-f]+-[0-9a-f]+ \S+ \S+ \S+ (\d+)")
_PR_SET_THP_DISABLE = 41


class NotMeasurableError(RuntimeError):
    """This system does not report a process's memory in that much detail."""


@dataclass(frozen=True)
class Memory:
    """A process's memory in bytes.

    Args:
        rss: Resident set size: all resident pages, shared ones included.
        pss: Proportional set size: a page that k processes share counts 1/k, so the sum over processes is
            the memory in use.
        private: Pages that no other process shares.
        private_dirty: Private pages that were written to: real copies, not pages of a file.
    """

    rss: int
    pss: int
    private: int
    private_dirty: int


def process_memory(pid: int | str = "self") -> Memory:
    """Return the memory of a process as Linux reports it.

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


def private_anonymous_memory(pid: int | str = "self") -> int:
    """Return the bytes in private dirty pages without a file: allocated, or copied on write.

    A page of a mapped file may be dirty as well, but belongs to the file.

    Raises:
        NotMeasurableError: As `process_memory`.
    """
    total, in_file = 0, False
    try:
        # Line by line: the whole text, once freed, would leave room for what is to be measured.
        with Path(f"/proc/{pid}/smaps").open() as lines:
            for line in lines:
                if heading := _MAPPING.match(line):
                    in_file = heading[1] != "0"
                elif line.startswith("Private_Dirty:") and not in_file:
                    total += int(line.split()[1]) * 1024
    except OSError as error:
        raise NotMeasurableError(_LINUX_ONLY) from error
    return total


def dirtied_bytes(function: Callable[_P, object], *args: _P.args, **kwargs: _P.kwargs) -> int:
    """Return the bytes that a forked child copies on write, or allocates and keeps, during a call.

    Args:
        function: Called once in the child.
        *args: Arguments of the function.
        **kwargs: Keyword arguments of the function.

    Raises:
        NotMeasurableError: As `process_memory`.
    """
    return in_child(_dirtied, lambda: function(*args, **kwargs))


def peak_growth(function: Callable[_P, object], *args: _P.args, **kwargs: _P.kwargs) -> int:
    """Return the bytes by which the peak resident memory of a forked child grows during a call.

    Args:
        function: Called once in the child.
        *args: Arguments of the function.
        **kwargs: Keyword arguments of the function.
    """
    return in_child(_growth, lambda: function(*args, **kwargs))


def _dirtied(function: Callable[[], object]) -> int:
    _settled_memory()
    before, faults = _settled_memory(), _page_faults()
    kept = function()
    # A page that the parent writes meanwhile becomes private to the child without a page fault of the child.
    written = (_page_faults() - faults) * resource.getpagesize()
    after = private_anonymous_memory()
    del kept
    return min(after - before, written)


def _page_faults() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt


def _settled_memory() -> int:
    # The first measurement dirties pages of its own, and one small write must not copy a huge page.
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_THP_DISABLE, 1, 0, 0, 0)
    return private_anonymous_memory()


def _growth(function: Callable[[], object]) -> int:
    before = _peak()
    kept = function()
    after = _peak()
    del kept
    return after - before


def _peak() -> int:
    # After a fork VmHWM starts at the current resident size; getrusage would still report the parent's peak.
    status = Path("/proc/self/status")
    if status.exists() and (found := re.search(r"VmHWM:\s+(\d+) kB", status.read_text())):
        return int(found[1]) * 1024
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
