"""Tell how much memory this process may still fill without harm to others or to itself."""

import re
from pathlib import Path

from course_utils.system.control_group import group_folders

# Limit, use, and the name in ``memory.stat`` of the part that caches files: control groups version 2, and 1.
_FILES = [
    ("memory.max", "memory.current", "file"),
    ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_cache"),
]


def available_memory(root: Path = Path("/")) -> int:
    """Return the bytes that can be allocated, or cached from files, without swapping.

    That is what the machine has available, or what is left in the process's control group (a Slurm job, a
    container), whichever is less. Cached files count as available: the kernel gives their memory back.

    Args:
        root: The folder with ``proc`` and ``sys``; tests pass another than ``/``.

    Returns:
        The bytes; 0 where the system does not tell.
    """
    try:
        found = re.search(r"^MemAvailable:\s+(\d+) kB", (root / "proc/meminfo").read_text(), re.MULTILINE)
    except OSError:
        found = None
    machine = 1024 * int(found[1]) if found else 0
    groups = (left for folder in group_folders("memory", root) if (left := _left_in(folder)) is not None)
    return max(0, min([machine, *groups]))


def _left_in(folder: Path) -> int | None:
    """Return the bytes that are left in a control group; None without a limit."""
    for limit, use, cached in _FILES:
        try:
            most = (folder / limit).read_text().strip()
            used = int((folder / use).read_text())
            found = re.search(rf"^{cached} (\d+)$", (folder / "memory.stat").read_text(), re.MULTILINE)
        except OSError:
            continue
        return None if most == "max" else int(most) - used + (int(found[1]) if found else 0)
    return None
