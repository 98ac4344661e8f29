"""How many CPU cores this process may really use, and what that means for DataLoader workers.

On a shared machine ``os.cpu_count()`` tells what is built in, not what a job was given. Two limits count:
the affinity mask (Slurm, taskset, cpusets) and the CPU quota of the control group (containers, systemd).

Example:
    >>> from course_utils.system.cpu_count import usable_cores, worker_advice
    >>> usable_cores()                                                   # doctest: +SKIP
    2
    >>> worker_advice(8)                                                 # doctest: +SKIP
    '8 workers on 2 usable cores: they take turns. More than 2 workers help only while they wait for storage.'
"""

import math
import os
from pathlib import Path

__all__ = ["clip_workers", "installed_cores", "quota_cores", "usable_cores", "worker_advice"]


def installed_cores() -> int:
    """Count the logical cores of the machine, whoever may use them."""
    return os.cpu_count() or 1


def usable_cores() -> int:
    """Count the cores this process may use: affinity mask and control-group quota, at least 1.

    Where the system has no affinity mask (macOS), all cores of the machine count.
    """
    quota = quota_cores()
    allowed = _affinity_cores()
    return allowed if quota is None else max(1, min(allowed, math.ceil(quota)))


def clip_workers(requested: int) -> int:
    """Reduce a wished number of workers to the usable cores, the most that ``DataLoader`` takes silently."""
    return min(requested, usable_cores())


def worker_advice(requested: int) -> str:
    """Say in a sentence what a number of DataLoader workers means on the usable cores.

    Args:
        requested: the ``num_workers`` somebody wishes for; 0 is loading in the main process.

    Returns:
        One or two sentences to show beside a result.
    """
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
    """Read the CPU quota of this process's control group, version 1 or 2, in cores.

    A group is limited by the tightest of its ancestors, so the path is walked up to the top.

    Args:
        root: where ``proc`` and ``sys`` are looked for; another than ``/`` serves tests.

    Returns:
        The quota in cores (1.5 is one and a half), or None where nothing limits it.
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
    """Turn a line like ``4:cpu,cpuacct:/job`` into the folders that may hold a quota, leaf to top."""
    _, controllers, path = line.split(":", 2)
    if controllers and "cpu" not in controllers.split(","):
        return []
    tops = [mount / controllers, mount / "cpu"] if controllers else [mount, mount / "unified"]
    inner = Path(path.lstrip("/"))
    # Inside a container the path may be the host's: folders that do not exist are passed over.
    return [top / part for top in tops for part in (inner, *inner.parents)]


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
