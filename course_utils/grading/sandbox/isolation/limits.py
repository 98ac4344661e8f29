"""Resource limits of a submission."""

from __future__ import annotations

import contextlib
import resource
from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """Resources of one submission; generous, because a slow machine is not the student's mistake.

    Attributes:
        cell_seconds: Wall time of one cell or one probe.
        total_seconds: Wall time of the whole submission.
        cpu_seconds: CPU time of one process.
        memory_mb: Memory of all processes together, files in memory included.
        processes: Concurrent processes and threads.
        file_mb: Size of one file, and of each private file system.
        output_kb: Output kept of one cell.
    """

    cell_seconds: float = 60.0
    total_seconds: float = 240.0
    cpu_seconds: int = 120
    memory_mb: int = 3072
    processes: int = 256
    file_mb: int = 512
    output_kb: int = 20


def apply_limits(limits: Limits, address_space: bool) -> None:
    """Set the resource limits (rlimits) of this process and its descendants.

    Args:
        limits: The limits.
        address_space: Limit the private memory of each process, too: no control group limits them together.
    """
    _set(resource.RLIMIT_CORE, 0)
    _set(resource.RLIMIT_CPU, limits.cpu_seconds)
    _set(resource.RLIMIT_FSIZE, limits.file_mb * 2**20)
    _set(resource.RLIMIT_NPROC, limits.processes)
    _set(resource.RLIMIT_NOFILE, 1024)
    if address_space:
        _set(resource.RLIMIT_DATA, limits.memory_mb * 2**20)


def _set(kind: int, value: int) -> None:
    _, hard = resource.getrlimit(kind)
    if hard != resource.RLIM_INFINITY:
        value = min(value, hard)
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(kind, (value, value))
