"""Find the control groups whose limits apply to this process."""

from collections.abc import Iterator
from pathlib import Path


def group_folders(controller: str, root: Path = Path("/")) -> Iterator[Path]:
    """Yield the folders that may hold a limit of this process's control group, leaf to root.

    The folders of version 1 and version 2 are among them, and some may not exist: inside a container, the
    kernel may tell the host's path.

    Args:
        controller: ``cpu`` or ``memory``.
        root: The folder with ``proc`` and ``sys``; tests pass another than ``/``.
    """
    listing, mount = root / "proc/self/cgroup", root / "sys/fs/cgroup"
    if not listing.is_file():
        return
    for line in listing.read_text().splitlines():  # such as ``4:cpu,cpuacct:/job``, or ``0::/job``
        _, controllers, path = line.split(":", 2)
        if controllers and controller not in controllers.split(","):
            continue
        mounts = [mount / controllers, mount / controller] if controllers else [mount, mount / "unified"]
        inner = Path(path.lstrip("/"))
        for top in mounts:
            yield from (top / part for part in (inner, *inner.parents))
