"""Count the CPU cores that this process may use, and advise on the number of DataLoader workers.

On a shared machine ``os.cpu_count()`` returns the cores of the hardware, not those allocated to a job. Two
limits apply: the affinity mask (Slurm, taskset, cpusets) and the CPU quota of the control group (containers,
systemd).

Example:
    >>> from course_utils.system import usable_cores, worker_advice
    >>> usable_cores()                                                   # doctest: +SKIP
    2
    >>> worker_advice(8)                                                 # doctest: +SKIP
    '8 workers on 2 usable cores: they take turns. More than 2 workers help only while they wait for storage.'
"""

import math
import os
from pathlib import Path


def installed_cores() -> int:
    """Count the logical cores of the machine, including those that this process may not use."""
    return os.cpu_count() or 1


def usable_cores() -> int:
    """Count the cores that this process may use: affinity mask and control-group quota, at least 1.

    Without an affinity mask (macOS), only the quota limits the cores of the machine.
    """
    quota = quota_cores()
    allowed = _affinity_cores()
    return allowed if quota is None else max(1, min(allowed, math.ceil(quota)))


def take_share(number: int, shares: int) -> None:
    """Keep this process and its descendants on one of several equal, separate shares of the usable cores.

    Without an affinity mask (macOS) there are no shares; with fewer cores than shares, a core is in several.

    Args:
        number: Which share, from 0.
        shares: How many.
    """
    if hasattr(os, "sched_setaffinity"):
        allowed = sorted(os.sched_getaffinity(0))
        first, most = number % len(allowed), max(1, usable_cores() // shares)
        os.sched_setaffinity(0, allowed[first::shares][:most])


def worker_advice(requested: int) -> str:
    """Explain what a number of DataLoader workers means on the usable cores.

    Args:
        requested: ``num_workers``; 0 loads in the main process.

    Returns:
        One or two sentences to display beside a result.

    Raises:
        ValueError: The number is negative.
    """
    if requested < 0:
        raise ValueError(f"{requested} workers: there cannot be fewer than 0")
    cores = usable_cores()
    have = f"{_count(requested, 'worker')} on {_count(cores, 'usable core')}"
    if requested == 0:
        return f"No workers: the main process loads and computes in turn. Try {_count(cores, 'worker')} here."
    if requested > cores:
        return (
            f"{have}: they take turns. "
            f"More than {_count(cores, 'worker')} help only while they wait for storage."
        )
    if requested == cores:
        return f"{have}: each may have a core to itself, and the main process shares with them."
    return f"{have}: {_count(cores - requested, 'core')} left for the main process."


def quota_cores(root: Path = Path("/")) -> float | None:
    """Return the CPU quota of this process's control group, version 1 or 2.

    The tightest quota of a group and its ancestors applies.

    Args:
        root: The folder with ``proc`` and ``sys``; tests pass another than ``/``.

    Returns:
        The quota in cores, such as 1.5, or None without a quota.
    """
    listing = root / "proc/self/cgroup"
    if not listing.is_file():
        return None
    quotas = [
        quota
        for line in listing.read_text().splitlines()
        for folder in _group_folders(line, root / "sys/fs/cgroup")
        if (quota := _folder_quota(folder)) is not None
    ]
    return min(quotas, default=None)


def _affinity_cores() -> int:
    if hasattr(os, "process_cpu_count"):  # Python 3.13; also honours PYTHON_CPU_COUNT
        return os.process_cpu_count() or 1
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return installed_cores()


def _group_folders(line: str, mount: Path) -> list[Path]:
    """Return the folders that may hold a quota, leaf to root, for a line like ``4:cpu,cpuacct:/job``."""
    _, controllers, path = line.split(":", 2)
    if controllers and "cpu" not in controllers.split(","):
        return []
    mounts = [mount / controllers, mount / "cpu"] if controllers else [mount, mount / "unified"]
    inner = Path(path.lstrip("/"))
    # Inside a container the path may be the host's: the caller skips folders that do not exist.
    return [top / part for top in mounts for part in (inner, *inner.parents)]


def _folder_quota(folder: Path) -> float | None:
    try:
        if (folder / "cpu.max").is_file():
            quota, period = (folder / "cpu.max").read_text().split()
        else:
            quota = (folder / "cpu.cfs_quota_us").read_text()
            period = (folder / "cpu.cfs_period_us").read_text()
    except OSError:
        return None
    unlimited = quota.strip() == "max" or int(quota) <= 0
    return None if unlimited else int(quota) / int(period)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" + ("" if number == 1 else "s")
