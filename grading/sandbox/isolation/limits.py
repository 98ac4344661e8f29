"""Resource limits of a submission."""

from __future__ import annotations

import contextlib
import os
import re
import resource
from dataclasses import dataclass

TOO_MANY_PROCESSES = "The process was killed: it started more processes than a submission may have."
TOO_MUCH_MEMORY = "The process was killed: it needed more memory than a submission may use."


@dataclass(frozen=True)
class Limits:
    """Resources of one submission; generous, because a slow machine is not the student's mistake.

    Attributes:
        cell_seconds: Wall time of one cell or one probe.
        exercise_seconds: Wall time of the cells of an exercise, which are those since the check before.
        cpu_seconds: CPU time of one process.
        memory_mb: Memory of all processes together, files in memory included.
        processes: Concurrent processes and threads.
        file_mb: Size of one file, and of each private file system.
        output_kb: Output kept of one cell.
    """

    cell_seconds: float = 60.0
    exercise_seconds: float = 120.0
    cpu_seconds: int = 120
    memory_mb: int = 3072
    processes: int = 256
    file_mb: int = 512
    output_kb: int = 20


def counts_processes_by_namespace() -> bool:
    """Say whether the kernel limits processes of a user namespace apart from the account's others."""
    version = [int(number) for number in re.findall(r"\d+", os.uname().release)[:2]]
    return os.uname().sysname == "Linux" and version >= [5, 14]


def apply_limits(limits: Limits, address_space: bool, processes: bool) -> None:
    """Set the resource limits (rlimits) of this process and its descendants.

    Args:
        limits: The limits.
        address_space: Limit the private memory of each process, too: no control group limits them together.
        processes: Limit their number, which counts for the user: not where others run as the same one.
    """
    _set(resource.RLIMIT_CORE, 0)
    _set(resource.RLIMIT_CPU, limits.cpu_seconds, above=5)  # first SIGXCPU, which names the reason
    _set(resource.RLIMIT_FSIZE, limits.file_mb * 2**20)
    if processes:
        _set(resource.RLIMIT_NPROC, limits.processes)
    _set(resource.RLIMIT_NOFILE, 1024)
    if address_space:
        _set(resource.RLIMIT_DATA, limits.memory_mb * 2**20)


def _set(kind: int, value: int, above: int = 0) -> None:
    """Set the soft limit, and the hard limit `above` it; never above what this process may have."""
    _, hard = resource.getrlimit(kind)
    most = value + above if hard == resource.RLIM_INFINITY else min(value + above, hard)
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(kind, (min(value, most), most))
